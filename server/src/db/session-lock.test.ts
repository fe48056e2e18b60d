import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { HeartbeatConnection } from './heartbeat-connection.ts'
import { SessionLock } from './session-lock.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
const use = 0x74657374
/** Processes of the server can be stopped if they run on this machine. */
const skip = process.env.PHAROS_TEST_DATABASE_URL !== undefined && 'the server is elsewhere'
let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ migrations: folder })
})
after(async () => {
  await database?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const backendOf = async (connection: HeartbeatConnection): Promise<number> => {
  const [row] = await connection.query<{ pid: number }>('select pg_backend_pid() as pid')
  return row!.pid
}

/** A server that no longer answers, like a machine that vanished. */
async function whileStopped(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  try {
    await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

describe('a heartbeat connection', { concurrency: true }, () => {
  it('configures the server to end the session of a client that vanished', async () => {
    const connection = await HeartbeatConnection.open(database.postgres)
    const settings = await connection.query<{ name: string; setting: number }>(
      `select name, setting::integer from pg_settings where name in ('idle_session_timeout', 'tcp_user_timeout')`,
    )
    // TCP options cannot be set on a unix socket: see the lab.
    assert.deepEqual(settings[0], { name: 'idle_session_timeout', setting: 20_000 })
    await connection.close()
  })

  it('is lost when the server no longer answers', { skip }, async () => {
    const connection = await HeartbeatConnection.open(database.postgres)
    await whileStopped(await backendOf(connection), async () => {
      await connection.lost
      assert.equal(connection.isAlive, false)
      await assert.rejects(connection.query('select'))
    })
  })

  it('is closed even if the server no longer answers', { skip }, async () => {
    const connection = await HeartbeatConnection.open(database.postgres)
    await whileStopped(await backendOf(connection), () => connection.close())
    assert.equal(connection.isAlive, false)
  })

  it('rejects a query that is not answered in time, and is lost with it', async () => {
    const connection = await HeartbeatConnection.open(database.postgres)
    await assert.rejects(connection.query('select pg_sleep(600)', [], 20))
    assert.equal(connection.isAlive, false)
  })

  it('survives heartbeats, and forwards notifications', async () => {
    const connection = await HeartbeatConnection.open(database.postgres)
    const beaten = Promise.withResolvers<void>()
    const other = await HeartbeatConnection.open(database.postgres, {
      beat: async (self) => {
        await self.query(`notify heartbeat, 'beat'`)
      },
    })
    await connection.listen('heartbeat', (payload) => payload === 'beat' && beaten.resolve())
    await beaten.promise
    assert.deepEqual([connection.isAlive, other.isAlive], [true, true])
    await Promise.all([connection.close(), other.close()])
  })
})

describe('a lock of a session', { concurrency: true }, () => {
  it('is held by one at a time, and by the same until it is released', async () => {
    const [first, second] = [1, 2].map(() => new SessionLock(database.postgres, [use, 1]))
    const connection = await first!.hold()
    assert.ok(connection)
    assert.equal(await first!.hold(), connection)
    assert.equal(await second!.hold(), undefined)
    await first!.release()
    assert.ok(await second!.hold())
    await second!.release()
  })

  it('is requested by several callers at once, in one session, and nothing of it is left', async () => {
    const pids: number[] = []
    const counting = {
      directConnection: async () => {
        const client = await database.postgres.directConnection()
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
        pids.push(rows[0]!.pid)
        return client
      },
    }
    const lock = new SessionLock(counting, [use, 4])
    const [first, second] = await Promise.all([lock.hold(), lock.hold()])
    assert.ok(first)
    assert.equal(second, first)
    assert.equal(pids.length, 1)
    await lock.release()
    // Also while it is requested.
    const [requested] = await Promise.all([lock.hold(), lock.release()])
    assert.equal(requested?.isAlive, false)
    assert.equal(pids.length, 2)
    const left = async () => {
      const { rows } = await sql`select from pg_stat_activity where pid = any(${pids}::integer[])
        union all select from pg_locks where locktype = 'advisory' and classid = ${use} and objid = 4
          and database = (select oid from pg_database where datname = current_database())`.execute(
        database.postgres.owner,
      )
      return rows.length
    }
    while ((await left()) > 0) await sleep(5)
  })

  it('passes to a waiting session when the session of its holder ends, and its holder requests it again', async () => {
    const first = new SessionLock(database.postgres, [use, 'named'])
    const acquired = Promise.withResolvers<void>()
    const second = new SessionLock(database.postgres, [use, 'named'], acquired.resolve)
    const connection = (await first.hold())!
    assert.equal(await second.hold(), undefined)
    const pid = await backendOf(connection)
    const client = await database.postgres.directConnection()
    await client.query('select pg_terminate_backend($1)', [pid])
    await client.end()
    await acquired.promise
    assert.ok(await second.hold())
    assert.equal(await first.hold(), undefined)
    await Promise.all([first.release(), second.release()])
  })

  it('can be requested again after the database did not answer', { skip }, async () => {
    const lock = new SessionLock(database.postgres, [use, 3])
    const connection = (await lock.hold())!
    await whileStopped(await backendOf(connection), () => lock.release())
    while (!(await lock.hold())) await sleep(5)
    await lock.release()
  })
})
