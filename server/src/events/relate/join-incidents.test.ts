import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'
import type { Db } from '../../db/postgres.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { overlaps, type Prefix } from '../../net/prefix.ts'
import { directionFlagsOf } from './incident.ts'
import { ingestBatch } from '../ingest/ingest.ts'
import { rematch } from './rematch.ts'
import { replayDeliveries } from '../ingest/replay.ts'
import { addPrefix, addSource, addTeam, deliver, removeEvents } from '../testing.ts'

let database: TestDatabase
let db: Db
let cache = createOwnershipCache()
let team = 0

before(async () => {
  database = await createTestDatabase()
  db = database.postgres.owner
})
after(() => database[Symbol.asyncDispose]())

beforeEach(async () => {
  await removeEvents(db)
  cache = createOwnershipCache()
  team = await addTeam(db, 'a')
  await addPrefix(db, team, '10.0.0.0/16')
  const fields = {
    id: '/id',
    network: '/ip',
    bps: '/rate',
    start: { at: '/start', unit: 'unix' },
    end: { at: '/end', unit: 'unix' },
    direction: '/direction',
  }
  for (const key of ['one', 'two']) await addSource(db, key, { kind: 'generic', settings: { fields } })
})

const minutes = (count: number) => 1_772_359_200 + count * 60

type Row = {
  readonly event_id: string
  readonly start_at: Date
  readonly end_at: Date | null
  readonly flags: number
  readonly affected_network: string | null
  readonly incident: string | null
}

const listRows = (teamId = team): Promise<Row[]> =>
  db
    .selectFrom('team_events')
    .select(['event_id', 'start_at', 'end_at', 'flags', 'affected_network', 'incident'])
    .where('team_id', '=', teamId)
    .orderBy('event_id')
    .execute()

/** The incidents, each as the sorted ids of its events. */
const partition = (rows: readonly Row[]): string[] =>
  [...Map.groupBy(rows, ({ incident, event_id }) => incident ?? event_id)]
    .map(([id, events]) => {
      assert.ok(
        events.some(({ event_id, incident }) => event_id === id && incident === null),
        'the first event names none',
      )
      return events.map(({ event_id }) => event_id).join(' ')
    })
    .toSorted()

/** The same by the definition: repeated until no pair connects two incidents. */
function expected(rows: readonly Row[]): string[] {
  const labels = new Map(rows.map(({ event_id }) => [event_id, event_id]))
  const late = 30 * 60_000
  const isBefore = (a: Row, b: Row) => b.end_at === null || a.start_at.getTime() < b.end_at.getTime() + late
  for (let isChanged = true; isChanged;) {
    isChanged = false
    for (const a of rows)
      for (const b of rows) {
        const [x, y] = [labels.get(a.event_id)!, labels.get(b.event_id)!]
        if (x === y || !overlaps(a.affected_network as Prefix, b.affected_network as Prefix)) continue
        if (directionFlagsOf(a.flags) !== directionFlagsOf(b.flags) || !isBefore(a, b) || !isBefore(b, a))
          continue
        for (const [id, label] of labels) if (label === y) labels.set(id, x)
        isChanged = true
      }
  }
  return [...Map.groupBy(rows, ({ event_id }) => labels.get(event_id)!).values()]
    .map((events) => events.map(({ event_id }) => event_id).join(' '))
    .toSorted()
}

type Delivery = { readonly source: string; readonly body: object }

const attack = fc.record({
  source: fc.constantFrom('one', 'two'),
  ip: fc.constantFrom('10.0.1.1', '10.0.1.2', '10.0.1.0/25', '10.0.1.0/24', '10.0.2.1', '10.0.0.0/16'),
  start: fc.integer({ min: 0, max: 240 }),
  lasts: fc.option(fc.integer({ min: 0, max: 60 }), { nil: null, freq: 4 }),
  direction: fc.constantFrom('incoming', 'incoming', 'incoming', 'outgoing'),
})

const deliveriesOf = (
  attacks: readonly (typeof attack extends fc.Arbitrary<infer A> ? A : never)[],
): Delivery[] =>
  attacks.flatMap(({ source, ip, start, lasts, direction }, at) => {
    const body = { id: `e${at}`, ip, start: minutes(start), direction }
    return [
      { source, body },
      { source, body: { ...body, start: minutes(Math.max(0, start - (at % 3) * 20)), rate: 1_000 } },
      ...(lasts === null ? [] : [{ source, body: { ...body, end: minutes(start + lasts) } }]),
    ]
  })

async function ingestInBatches(deliveries: readonly Delivery[], limit: number): Promise<void> {
  for (const { source, body } of deliveries) await deliver(db, source, [body])
  while ((await ingestBatch(database.postgres, cache, { limit })).done > 0);
}

describe('incidents', () => {
  test('are the same for any order and any batches of the same deliveries, and by their definition', async () => {
    const plan = fc.record({
      attacks: fc.array(attack, { minLength: 2, maxLength: 9 }),
      seeds: fc.array(fc.integer(), { minLength: 2, maxLength: 2 }),
      limit: fc.constantFrom(1, 2, 5, 100),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ attacks, seeds, limit }) => {
        const deliveries = deliveriesOf(attacks)
        const found = []
        for (const seed of seeds) {
          await db.deleteFrom('team_events').execute()
          await db.deleteFrom('events').execute()
          await db.deleteFrom('deliveries').execute()
          await db.deleteFrom('event_relationships').execute()
          await db.deleteFrom('team_event_counts').execute()
          await ingestInBatches(shuffled(deliveries, seed), limit)
          const rows = await listRows()
          assert.deepEqual(partition(rows), expected(rows))
          found.push(partition(rows))
        }
        assert.deepEqual(found[0], found[1])
      }),
      { numRuns: scaled(25) },
    )
  })

  const host = { source: 'one', body: { id: 'a', ip: '10.0.1.1', start: minutes(0), direction: 'incoming' } }
  const other = { source: 'one', body: { ...host.body, id: 'b', ip: '10.0.1.9', start: minutes(5) } }
  const around = { source: 'two', body: { ...host.body, id: 'c', ip: '10.0.1.0/24', start: minutes(10) } }
  const sizes = async (teamId = team) =>
    partition(await listRows(teamId))
      .map((ids) => ids.split(' ').length)
      .toSorted()

  test('of addresses are one when a network around them is reported, with the id of the first; and apart when it is found elsewhere', async () => {
    await ingestInBatches([host, other], 100)
    assert.deepEqual(await sizes(), [1, 1])
    await ingestInBatches([around], 100)
    assert.deepEqual(await sizes(), [3])
    const first = (await listRows()).find(({ start_at: at }) => at.getTime() === minutes(0) * 1_000)
    assert.equal(first?.incident, null)
    await ingestInBatches(
      [{ ...around, body: { ...around.body, start: minutes(-200), end: minutes(-100) } }],
      100,
    )
    assert.deepEqual(await sizes(), [1, 1, 1])
  })

  test('keep their ids when an event is reported that started before them', async () => {
    await ingestInBatches([other], 100)
    const [{ event_id } = { event_id: '' }] = await listRows()
    await ingestInBatches([{ ...around, body: { ...around.body, start: minutes(-20) } }], 100)
    assert.deepEqual(
      (await listRows()).map(({ incident }) => incident).toSorted(),
      [event_id, null].toSorted(),
    )
  })

  test('connect by each network of an event that has several', async () => {
    const carpet = { id: 'd', ip: ['10.0.7.1', '10.0.8.1'], start: minutes(0), direction: 'incoming' }
    await ingestInBatches([{ source: 'one', body: carpet }], 1)
    const part = { ...carpet, id: 'e', ip: '10.0.8.0/24' }
    await ingestInBatches([{ source: 'two', body: part }], 1)
    await ingestInBatches([{ source: 'two', body: { ...part, id: 'f', ip: '10.0.9.0/24' } }], 1)
    assert.deepEqual(await sizes(), [1, 2])
    await ingestInBatches([{ source: 'one', body: { ...carpet, ip: ['10.0.9.1'] } }], 1)
    assert.deepEqual(await sizes(), [3])
  })

  test('are the same after a replay, and for a team that gets the prefix later', async () => {
    const ended = { ...host, body: { ...host.body, end: minutes(20) } }
    const again = { ...host, body: { ...host.body, id: 'g', start: minutes(120) } }
    await ingestInBatches([host, ended, again, around, other], 2)
    const before = partition(await listRows())
    await replayDeliveries(db)
    while ((await ingestBatch(database.postgres, cache, { limit: 1 })).done > 0);
    assert.deepEqual(partition(await listRows()), before)
    const later = await addTeam(db, 'b')
    const prefixId = await addPrefix(db, later, '10.0.0.0/8')
    await rematch(database.postgres, cache, undefined, 1)
    assert.deepEqual(partition(await listRows(later)), before)
    await db.updateTable('prefixes').set({ prefix: '10.0.1.0/28' }).where('id', '=', prefixId).execute()
    await rematch(database.postgres, cache, undefined, 1)
    const rows = await listRows(later)
    assert.deepEqual(partition(rows), expected(rows))
    await db.updateTable('prefixes').set({ prefix: '10.0.1.9/32' }).where('id', '=', prefixId).execute()
    await rematch(database.postgres, cache, undefined, 1)
    assert.deepEqual(await sizes(later), [2])
  })
})

/** Uses a linear congruential generator. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = seed >>> 0
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
  return list
    .map((value) => [next(), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value)
}
