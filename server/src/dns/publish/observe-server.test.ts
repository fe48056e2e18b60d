import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { waitFor } from '@pharos/lab/wait'
import type { Trx } from '../../db/postgres.ts'
import { createFollower } from '../../drivers/dns-follower/name-server.ts'
import { startTestPrimary, testKey, type TestPrimary } from '../../drivers/dns-server/testing.ts'
import { parseName, type ZoneName } from '../../net/dns/name.ts'
import type { Serial } from '../../net/dns/serial.ts'
import { ServerObserver } from './observe-server.ts'
import { saveObservations, updateStatuses, type ZoneState } from './observe.store.ts'
import { changeZone, insertZone } from './testing.ts'

describe('the observation of a name server', () => {
  let primary: TestPrimary
  before(async () => {
    primary = await startTestPrimary()
  })
  after(() => primary[Symbol.asyncDispose]())

  const db = () => primary.deps.db
  const signal = new AbortController().signal

  async function addServer(name: string, port = 53): Promise<number> {
    const { rows } = await sql<{ id: number }>`
      insert into dns_servers (name, address, port) values (${name}, '127.0.0.1', ${port}) returning id`.execute(
      db(),
    )
    return rows[0]!.id
  }

  /** The primary as its own follower: it serves what is published at once. */
  async function observe(name: string, port: number): Promise<ServerObserver> {
    const client = createFollower({ address: '127.0.0.1', port, key: testKey, timeoutMs: 300 })
    const server = { id: await addServer(name, port), name: parseName(name), catalog: true }
    return new ServerObserver({ db: db(), now: () => new Date() }, server, client)
  }

  const zoneRow = async (name: ZoneName | string): Promise<unknown> => {
    const { rows } = await sql`
      select status, reason, attrs from dns_zones where name = ${name} and deleted is null`.execute(db())
    return rows[0]
  }

  it('derives the status of zones from the serials that it reads', async () => {
    const id = await insertZone(db(), 'observed.example', 'www 300 A 192.0.2.1')
    await primary.publish(id)
    const observer = await observe('up.example.', primary.port)
    await observer.run(signal)
    assert.equal(observer.behind, 0)
    assert.deepEqual(await zoneRow('observed.example.'), { status: 'ok', reason: null, attrs: null })
    await changeZone(db(), id, { added: 'www 300 A 192.0.2.2' })
    assert.deepEqual(await zoneRow('observed.example.'), { status: 'updating', reason: null, attrs: null })
    await observer.run(signal)
    assert.deepEqual(await zoneRow('observed.example.'), { status: 'updating', reason: null, attrs: null })
    await primary.publish(id)
    await observer.run(signal)
    assert.deepEqual(await zoneRow('observed.example.'), { status: 'ok', reason: null, attrs: null })
    const { rows } = await sql<{
      identity: object
      error: null
    }>`select identity, error from dns_servers`.execute(db())
    assert.deepEqual(rows, [{ identity: { version: 'test' }, error: null }])
  })

  it('names the servers that do not answer, and writes nothing if nothing changes', async () => {
    const down = await observe('down.example.', 9)
    await down.run(signal)
    const behind = {
      status: 'updating',
      reason: 'zone_servers_behind',
      attrs: { serving: 1, total: 2, servers: ['down.example.'] },
    }
    assert.deepEqual(await zoneRow('observed.example.'), behind)
    const versions = async (): Promise<unknown> => {
      const { rows } = await sql`
        select xmin::text from dns_zones union all select xmin::text from dns_server_zones`.execute(db())
      return rows
    }
    const before = await versions()
    await down.run(signal)
    assert.deepEqual(await versions(), before)
    await sql`delete from dns_servers where name = 'down.example.'`.execute(db())
  })

  it('counts both of two servers whose serials are saved at the same time', async () => {
    const id = await insertZone(db(), 'together.example', 'www 300 A 192.0.2.1')
    await primary.publish(id)
    const [one, other] = [await addServer('one.example.'), await addServer('other.example.')]
    await sql`delete from dns_servers where id not in (${one}, ${other})`.execute(db())
    const { rows } = await sql<{ serial: Serial }>`
      select serial::float8 as serial from dns_zones where id = ${id}`.execute(db())
    const save = async (trx: Trx, server: number, state: ZoneState): Promise<void> => {
      const saved = await saveObservations(trx, server, [{ zoneId: id, serial: rows[0]!.serial, state }])
      await updateStatuses(trx, [id], saved)
    }
    for (const server of [one, other])
      await db()
        .transaction()
        .execute((trx) => save(trx, server, 'behind'))
    const first = await db().startTransaction().execute()
    await save(first, one, 'serving')
    const second = db()
      .transaction()
      .execute((trx) => save(trx, other, 'serving'))
    await waitFor('the lock', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        db(),
      )
      return waiting.rows.length > 0
    })
    await first.commit().execute()
    await second
    assert.deepEqual(await zoneRow('together.example.'), { status: 'ok', reason: null, attrs: null })
  })
})
