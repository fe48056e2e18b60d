import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { openPostgres, type Postgres } from './postgres.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'
import { createWaker, wake, type WakeName, type Waker } from './wake.ts'
import { until } from '../../../lab/src/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
let database: TestDatabase
let postgres: Postgres
before(async () => {
  database = await createTestDatabase({ migrations: folder, postgres: { applicationName: 'wake' } })
  postgres = database.postgres
})
after(async () => {
  await database?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function withWaker(
  work: (waker: Waker, received: WakeName[]) => Promise<void>,
  on = postgres,
): Promise<void> {
  const waker = createWaker(on)
  const received: WakeName[] = []
  for (const name of ['announcements', 'deliveries'] as const) waker.on(name, () => void received.push(name))
  await waker.start()
  try {
    await work(waker, received)
  } finally {
    await waker.stop()
  }
}

/** Notifications arrive in the order of their commits: when this one arrives, every earlier one has. */
async function settled(received: WakeName[]): Promise<WakeName[]> {
  const already = received.length
  await wake(postgres.owner, 'deliveries')
  await until(() => received.indexOf('deliveries', already) >= 0)
  return received
}

const terminate = CompiledQuery.raw(
  `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'wake direct' and query like 'listen%'
    and datname = current_database()`,
)

describe('wake', () => {
  it('notifies the listeners of its name at commit, once', async () => {
    await withWaker(async (_, received) => {
      await postgres.owner.transaction().execute(async (trx) => {
        await wake(trx, 'announcements')
        await wake(trx, 'announcements')
        await sleep(30)
        assert.deepEqual(received, [])
      })
      assert.deepEqual(await settled(received), ['announcements', 'deliveries'])
    })
  })

  it('does not notify when the transaction is rolled back', async () => {
    await withWaker(async (_, received) => {
      const failing = postgres.owner.transaction().execute(async (trx) => {
        await wake(trx, 'announcements')
        throw new RangeError('no')
      })
      await assert.rejects(failing, RangeError)
      assert.deepEqual(await settled(received), ['deliveries'])
    })
  })

  it('does not notify a listener that has unsubscribed', async () => {
    await withWaker(async (waker, received) => {
      let extra = 0
      const off = waker.on('announcements', () => extra++)
      off()
      await wake(postgres.owner, 'announcements')
      await settled(received)
      assert.equal(extra, 0)
    })
  })
})

describe('a waker', () => {
  it('notifies every listener once when its connection is restored, and then resumes', async () => {
    await withWaker(async (waker, received) => {
      assert.equal(waker.connected, true)
      await postgres.owner.executeQuery(terminate)
      await until(() => !waker.connected)
      await wake(postgres.owner, 'announcements')
      await until(() => received.length === 2)
      assert.equal(waker.connected, true)
      assert.deepEqual(received, ['announcements', 'deliveries'])
      await wake(postgres.owner, 'announcements')
      assert.deepEqual(await settled(received), [
        'announcements',
        'deliveries',
        'announcements',
        'deliveries',
      ])
    })
  })

  it('starts without a database, reports it, and stops at once', async () => {
    const away = await openPostgres({ databaseUrl: 'postgresql://x@127.0.0.1:1/x', dataDir: '' })
    await withWaker(async (waker) => {
      assert.equal(waker.connected, false)
      await sleep(300)
      assert.equal(waker.connected, false)
    }, away)
    await away.stop()
  })

  it('leaves no connection behind', async () => {
    await withWaker(() => Promise.resolve())
    const { rows } = await postgres.owner.executeQuery<{ n: number }>(
      CompiledQuery.raw(
        `select count(*) as n from pg_stat_activity where application_name = 'wake direct' and datname = current_database()`,
      ),
    )
    assert.deepEqual(rows, [{ n: 0 }])
  })
})
