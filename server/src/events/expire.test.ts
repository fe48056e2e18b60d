import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createOwnershipCache } from '../inventory/holding/ownership.ts'
import { eventIdOf } from './event/event.ts'
import { expireDeliveries } from './ingest/expire-deliveries.ts'
import { ingestDeliveries } from './ingest/ingest.ts'
import { expireEvents } from './relate/expire-events.ts'
import { fixture } from './sources/fixtures.ts'
import { addPrefix, addSource, addTeam, compareCounts, deliver, removeEvents } from './testing.ts'

let database: TestDatabase
let db: Db
const never = new AbortController().signal

before(async () => {
  database = await createTestDatabase()
  db = database.postgres.owner
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await removeEvents(db)
  await addSource(db, 'fnm')
})

const attack = (kind: 'ban' | 'unban', ip: string) => {
  const body = fixture(`fastnetmon-${kind}`)
  return { ...body, ip, attack_details: { ...(body.attack_details as object), attack_uuid: ip } }
}
const ingest = () => ingestDeliveries(database.postgres, createOwnershipCache())
const idOf = (ip: string) => eventIdOf('fnm', ip)

/** Attacks on addresses of a team, and one on nobody; each was first seen and ended as given. */
async function addAttacks(times: Readonly<Record<string, { detected: string; ended: string | null }>>) {
  const team = await addTeam(db, 'a')
  await addPrefix(db, team, '203.0.113.0/24')
  await deliver(
    db,
    'fnm',
    Object.keys(times).flatMap((ip) => [attack('ban', ip), attack('unban', ip)]),
  )
  await ingest()
  for (const [ip, { detected, ended }] of Object.entries(times))
    await sql`update events set detected = now() - ${detected}::interval, end_at = now() - ${ended}::interval, updated = now() - ${detected}::interval
      where id = ${idOf(ip)}`.execute(db)
  return team
}

const storedEvents = async (): Promise<string[]> => {
  const { rows } = await sql<{
    ip: string
  }>`select host(affected_network) as ip from events order by 1`.execute(db)
  return rows.map(({ ip }) => ip)
}

describe('events that ended before their limit', () => {
  it('are deleted with their rows of teams, counts, comments and files, in batches; others stay', async () => {
    const team = await addAttacks({
      '203.0.113.1': { detected: '26 months', ended: '26 months' },
      '203.0.113.2': { detected: '30 months', ended: '24 months' },
      '203.0.113.3': { detected: '1 day', ended: '40 months' },
      '203.0.113.4': { detected: '26 months', ended: '26 months' },
      '198.51.100.1': { detected: '26 months', ended: '26 months' },
    })
    const old = idOf('203.0.113.1')
    await sql`insert into event_comments (team_id, event_id, author, text) values (${team}, ${old}, 'user:1', 'old')`.execute(
      db,
    )
    assert.equal(await expireEvents(db, 25, never, 2), 3)
    assert.deepEqual(await storedEvents(), ['203.0.113.2', '203.0.113.3'])
    const { rows } = await sql<{ event_id: string }>`select event_id from team_events order by 1`.execute(db)
    assert.deepEqual(
      rows.map(({ event_id: id }) => id).toSorted(),
      [idOf('203.0.113.2'), idOf('203.0.113.3')].toSorted(),
    )
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
    for (const table of ['event_comments', 'event_relationships', 'event_networks'])
      assert.equal(
        (await sql`select from ${sql.table(table)} where event_id = ${old}`.execute(db)).rows.length,
        0,
        table,
      )
    assert.equal(await expireEvents(db, 25, never), 0)
  })

  it('are kept while they have not ended and reports about them arrive', async () => {
    await addAttacks({ '203.0.113.1': { detected: '26 months', ended: null } })
    await sql`update events set updated = now()`.execute(db)
    assert.equal(await expireEvents(db, 25, never), 0)
    await sql`update events set updated = now() - interval '26 months'`.execute(db)
    assert.equal(await expireEvents(db, 25, never), 1)
  })

  it('are deleted once by two processes', async () => {
    await addAttacks(
      Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [
          `203.0.113.${at + 1}`,
          { detected: '26 months', ended: '26 months' },
        ]),
      ),
    )
    const [one, two] = await Promise.all([expireEvents(db, 25, never, 3), expireEvents(db, 25, never, 3)])
    assert.equal(one + two + (await expireEvents(db, 25, never)), 12)
    const { kept, counted } = await compareCounts(db)
    assert.deepEqual(kept, counted)
  })
})

describe('deliveries that were received before their limit', () => {
  it('are deleted with their ids, unless they wait; the events stay', async () => {
    await addTeam(db, 'a')
    await deliver(
      db,
      'fnm',
      [attack('ban', '203.0.113.1'), attack('ban', '203.0.113.2')],
      new Date(Date.now() - 91 * 86_400_000),
    )
    await ingest()
    await deliver(db, 'fnm', [attack('ban', '203.0.113.3')], new Date(Date.now() - 91 * 86_400_000))
    await deliver(db, 'fnm', [attack('ban', '203.0.113.4')])
    await sql`select create_month_partitions((now() - interval '91 days')::date)`.execute(db)
    assert.equal(await expireDeliveries(db, 90, never), 2)
    const { rows } = await sql<{ deliveries: number; ids: number }>`
      select (select count(*) from deliveries) as deliveries, (select count(*) from delivery_ids) as ids`.execute(
      db,
    )
    assert.deepEqual(rows, [{ deliveries: 2, ids: 2 }])
    assert.deepEqual(await storedEvents(), ['203.0.113.1', '203.0.113.2'])
    await ingest()
    assert.equal(await expireDeliveries(db, 90, never), 1)
  })
})
