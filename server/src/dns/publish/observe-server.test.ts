import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { stateMessageText } from '@pharos/contract/reason/state-message'
import { sql } from 'kysely'
import { waitFor } from '@pharos/lab/wait'
import type { Trx } from '../../db/postgres.ts'
import { createFollower } from '../../drivers/dns-follower/name-server.ts'
import { startTestPrimary, testKey, type TestPrimary } from '../../drivers/dns-server/testing.ts'
import { parseName, type ZoneName } from '../../net/dns/name.ts'
import type { Serial } from '../../net/dns/serial.ts'
import { ServerObserver } from './observe-server.ts'
import {
  saveServerObservations,
  updateStatuses,
  type RefusedZoneChange,
  type ZoneState,
} from './observe.store.ts'
import { writeZoneVersion, insertTestZone } from './testing.ts'

describe('the observation of a name server', () => {
  let primary: TestPrimary
  before(async () => {
    primary = await startTestPrimary()
  })
  after(() => primary[Symbol.asyncDispose]())

  const db = () => primary.deps.db
  const refused: RefusedZoneChange[] = []
  const signal = new AbortController().signal

  async function addServer(name: string, port = 53): Promise<number> {
    const { rows } = await sql<{ id: number }>`
      insert into dns_servers (name, address, port) values (${name}, '127.0.0.1', ${port}) returning id`.execute(
      db(),
    )
    return rows[0]!.id
  }

  /** The primary as its own follower: it serves a publication immediately. */
  async function observe(name: string, port: number): Promise<ServerObserver> {
    const client = createFollower({ address: '127.0.0.1', port, key: testKey, timeoutMs: 300 })
    const server = { id: await addServer(name, port), name: parseName(name), catalog: true }
    const onRefused = (_: Trx, zones: readonly RefusedZoneChange[]) =>
      Promise.resolve(void refused.push(...zones))
    return new ServerObserver({ db: db(), now: () => new Date(), onRefused }, server, client)
  }

  const zoneRow = async (name: ZoneName | string): Promise<unknown> => {
    const { rows } = await sql`
      select status, reason, attrs from dns_zones where name = ${name} and deleted is null`.execute(db())
    return rows[0]
  }

  it('derives the status of zones from the serials that it reads', async () => {
    const id = await insertTestZone(db(), 'observed.example', 'www 300 A 192.0.2.1')
    await primary.publish(id)
    const observer = await observe('up.example.', primary.port)
    await observer.run(signal)
    assert.equal(observer.behind, 0)
    assert.deepEqual(await zoneRow('observed.example.'), { status: 'ok', reason: null, attrs: null })
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
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

  it('reports each change once, with its time, when the last name server serves it', async () => {
    await sql`delete from dns_servers`.execute(db())
    const served: number[] = []
    const id = await insertTestZone(db(), 'timed.example', 'www 300 A 192.0.2.1')
    await sql`update dns_zones set claimed = claimed - interval '1 day' where id = ${id}`.execute(db())
    const [one, other] = [await addServer('one.example.'), await addServer('other.example.')]
    const save = (server: number, serial: Serial, state: ZoneState = 'serving') =>
      db()
        .transaction()
        .execute(async (trx) => {
          const saved = await saveServerObservations(trx, server, [{ zoneId: id, serial, state }])
          served.push(...(await updateStatuses(trx, [id], saved)).servedSeconds)
        })
    const take = () => served.splice(0)
    const age = (version: number) =>
      sql`update dns_versions set at = at - interval '1 hour' where zone_id = ${id} and version = ${version}`.execute(
        db(),
      )
    const first = await primary.publish(id)
    await save(one, first)
    assert.deepEqual(take(), [])
    await save(other, first)
    assert.deepEqual(take(), [], 'the first version of this test has no time')

    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
    const second = await primary.publish(id)
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.3' })
    await age(2)
    await save(one, second)
    await save(other, second)
    const [slow, ...others] = take()
    assert.ok(slow! >= 3_600 && slow! < 3_660 && others.length === 0, String([slow, ...others]))
    const third = await primary.publish(id)
    await save(one, third)
    await save(other, second, 'behind')
    await save(one, third, 'failing')
    await save(one, third)
    assert.deepEqual(take(), [])
    await save(other, third)
    const [fast, ...more] = take()
    assert.ok(fast! >= 0 && fast! < 60 && more.length === 0, String([fast, ...more]))

    await sql`update dns_zones set resign_requested = now() where id = ${id}`.execute(db())
    const signed = await primary.publish(id)
    await save(one, signed)
    await save(other, signed)
    assert.deepEqual(take(), [], 'nobody changed the zone')
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.4' })
    await sql`update dns_zones set served_version = null where id = ${id}`.execute(db())
    const last = await primary.publish(id)
    for (const server of [one, other]) await save(server, last)
    assert.equal(take().length, 1, 'an older release has saved those of before')
    await sql`delete from dns_servers`.execute(db())
  })

  it('counts both of two servers whose serials are saved at the same time', async () => {
    const id = await insertTestZone(db(), 'together.example', 'www 300 A 192.0.2.1')
    await primary.publish(id)
    const [one, other] = [await addServer('one.example.'), await addServer('other.example.')]
    await sql`delete from dns_servers where id not in (${one}, ${other})`.execute(db())
    const { rows } = await sql<{ serial: Serial }>`
      select serial::float8 as serial from dns_zones where id = ${id}`.execute(db())
    const save = async (trx: Trx, server: number, state: ZoneState): Promise<void> => {
      const saved = await saveServerObservations(trx, server, [
        { zoneId: id, serial: rows[0]!.serial, state },
      ])
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

  it('says which change a server refuses that others serve, and tells staff once', async () => {
    await sql`delete from dns_servers`.execute(db())
    const id = await insertTestZone(db(), 'refused.example', 'www 300 A 192.0.2.1')
    const first = await primary.publish(id)
    await writeZoneVersion(db(), id, { added: 'odd 300 TXT a\nwww 300 A 192.0.2.2' })
    await primary.publish(id)
    await writeZoneVersion(db(), id, { added: 'later 300 TXT b' })
    const last = await primary.publish(id)
    const [good, bad] = [await addServer('good.example.'), await addServer('bad.example.')]
    const save = (server: number, serial: Serial, state: ZoneState) =>
      db()
        .transaction()
        .execute(async (trx) => {
          const saved = await saveServerObservations(trx, server, [{ zoneId: id, serial, state }])
          return updateStatuses(trx, [id], saved)
        })
    const passMinute = () =>
      sql`update dns_server_zones set since = since - interval '1 minute', reached = reached - interval '1 minute'
        where zone_id = ${id}`.execute(db())
    await save(bad, first, 'behind')
    await passMinute()
    assert.deepEqual((await save(good, first, 'behind')).refused, [], 'no server has the newest version')
    const { changes, refused } = await save(good, last, 'serving')
    assert.deepEqual(
      changes.map(({ before, after }) => [before, after]),
      [['updating', 'error']],
    )
    const sets = ['odd.refused.example. TXT', 'www.refused.example. A']
    assert.deepEqual(
      refused.map(({ name, servers, serial, sets }) => ({ name, servers, serial, sets: sets.toSorted() })),
      [{ name: 'refused.example.', servers: ['bad.example.'], serial: first, sets }],
    )
    const { status, reason, attrs } = (await zoneRow('refused.example.')) as Record<string, unknown> & {
      attrs: Record<string, unknown>
    }
    assert.deepEqual([status, reason], ['error', 'zone_refused'])
    const text = stateMessageText('zone_refused', attrs)
    assert.match(
      text,
      new RegExp(`^bad\\.example\\. keeps the version ${first}, although 1 of 2 .* odd\\.refused`),
    )
    assert.deepEqual(
      await save(bad, first, 'behind'),
      { changes: [], refused: [], servedSeconds: [] },
      'nothing is new',
    )

    await sql`update dns_zones set published = now() - interval '5 minutes' where name = 'together.example.'`.execute(
      db(),
    )
    const { rows } = await sql<{
      id: number
    }>`select id from dns_zones where name = 'together.example.'`.execute(db())
    await sql`
      insert into dns_server_zones (server_id, zone_id, serial, state, checked, reached)
      values (${bad}, ${rows[0]!.id}, 1, 'serving', now(), now())`.execute(db())
    const slow = await save(bad, first, 'failing')
    assert.deepEqual(slow.refused, [], 'the server is late with other zones too')
    await sql`delete from dns_server_zones where server_id = ${bad} and zone_id = ${rows[0]!.id}`.execute(
      db(),
    )
    await passMinute()
    assert.equal((await save(bad, first, 'behind')).refused.length, 0, 'another state is observed anew')
    await passMinute()
    assert.equal((await save(bad, first, 'behind')).refused.length, 1)
    assert.deepEqual(
      (await save(bad, last, 'serving')).changes.map(({ after }) => after),
      ['ok'],
    )
  })

  it('finds a public server that refuses questions about a zone whose NS records name it', async () => {
    await sql`delete from dns_servers`.execute(db())
    const id = await insertTestZone(db(), 'unknown.example', 'www 300 A 192.0.2.1')
    const serial = await primary.publish(id)
    const [good, unlisted] = [await addServer('good.example.'), await addServer('unlisted.example.')]
    await sql`update dns_servers set catalog = false where id = ${unlisted}`.execute(db())
    const save = (server: number, state: ZoneState) =>
      db()
        .transaction()
        .execute(async (trx) =>
          updateStatuses(
            trx,
            [id],
            await saveServerObservations(trx, server, [
              { zoneId: id, serial: state === 'serving' ? serial : null, state },
            ]),
          ),
        )
    await save(good, 'serving')
    await save(unlisted, 'absent')
    assert.deepEqual(await zoneRow('unknown.example.'), { status: 'ok', reason: null, attrs: null })
    await sql`
      update dns_recordsets set content = E'good.example.\nunlisted.example.'
      where zone_id = ${id} and type = 2`.execute(db())
    await save(unlisted, 'absent')
    assert.deepEqual(((await zoneRow('unknown.example.')) as { status: string }).status, 'updating')
    await sql`update dns_server_zones set since = since - interval '1 minute' where zone_id = ${id}`.execute(
      db(),
    )
    await sql`update dns_zones set published = published - interval '1 minute' where id = ${id}`.execute(db())
    await save(unlisted, 'absent')
    assert.deepEqual(await zoneRow('unknown.example.'), {
      status: 'error',
      reason: 'zone_absent',
      attrs: { serving: 1, total: 2, servers: ['unlisted.example.'] },
    })
    await save(unlisted, 'serving')
    assert.deepEqual(await zoneRow('unknown.example.'), { status: 'ok', reason: null, attrs: null })
  })
})
