// The traffic of an event: flows towards its target, traffic dropped by the team's own rules, and the detector's
// samples without flows.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { getEventTrafficRoute, type EventTraffic } from '@pharos/contract/events/event-traffic'
import { Compile } from 'typebox/compile'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { encodeNativeBlock } from '../../drivers/clickhouse/native-block.ts'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Operation } from '../../operation/operation.ts'
import { DriverError, QueryTooExpensive } from '../../runtime/driver-error.ts'
import { getEventTraffic, type EventTrafficDeps } from './event-traffic.ts'
import { insertFlows, testFlow } from '../../flow/testing.ts'
import { HitsRecorder } from '../../shield/record-hits.ts'
import { getShieldTraffic } from '../../shield/shield-traffic.ts'
import { addPrefix, addTeam } from '../testing.ts'

const minuteMs = 60_000
const startMs = Date.parse('2026-03-14T11:50:00Z')
const now = new Date('2026-03-14T12:10:30Z')

let database: TestDatabase
let store: TestFlowStore
let teamId = 0
let other = 0

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  teamId = await addTeam(owner, 'one')
  other = await addTeam(owner, 'two')
  await addPrefix(owner, teamId, '203.0.113.0/24')
  await addEvent('attacked', ['203.0.113.7/32'], {
    timeline: [
      { at: new Date(startMs + 5_000).toISOString(), signals: ['pending'], bps: 5_000, pps: 10 },
      { at: new Date(startMs + 20_000).toISOString(), signals: ['ongoing'], bps: 9_000 },
    ],
  })
  await addEvent('quiet', ['203.0.113.99/32'], {
    timeline: [{ at: new Date(startMs).toISOString(), signals: ['pending'], bps: 4_000 }],
  })
  await addEvent('carpet', ['203.0.113.7/32', '203.0.113.8/32'], {
    networks: ['203.0.113.7/32', '203.0.113.8/32'],
  })
  const flow = (minute: number, fields: Parameters<typeof testFlow>[0]) =>
    testFlow({ teamId, time: new Date(startMs + minute * minuteMs), dst: '203.0.113.7', ...fields })
  await insertFlows(store, [
    flow(0, { bytes: 750, packets: 60, samplingRate: 100 }),
    flow(1, { bytes: 75_000, packets: 6_000 }),
    flow(1, { bytes: 7_500, packets: 600, dst: '203.0.113.8' }),
    flow(2, { dst: '203.0.113.200' }),
    // Of another team, and in the other direction.
    flow(1, { teamId: other, bytes: 9e9 }),
    flow(1, { direction: 'out', src: '203.0.113.7', dst: '192.0.2.1', bytes: 9e9 }),
  ])
  await drop(teamId, '203.0.113.0/25', 45_000, 3_600)
  await drop(teamId, '203.0.113.128/25', 9e9, 9e9)
  await drop(other, '203.0.113.7/32', 9e9, 9e9)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

async function addEvent(id: string, networks: readonly string[], details: object): Promise<void> {
  const { owner } = database.postgres
  const facet = await sql<{ id: number }>`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key, description)
    values (${teamId}, 0, 0, 'udp.flood', 'test', ${id}) returning id`.execute(owner)
  await sql`insert into events (id, source_key, source_event_id, flags, status, affected_network, source_timezone, start_at, end_at,
      source_resource_id, source_location_id, source_country, source_location, classification_key, description, affected_bps,
      affected_pps, parsed_data)
    values (${id}, 'test', ${id}, '{}', '{EVENT_ONGOING}', ${networks[0]}::cidr, 'UTC', ${new Date(startMs)}, null, '', '', '', '',
      'udp.flood', '', 0, 0, ${JSON.stringify(details)}::jsonb)`.execute(owner)
  await sql`insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
      classification_key, description, record, relationships, facet)
    values (${teamId}, ${id}, ${new Date(startMs)}, null, 0, 0, 0, ${networks[0]}::cidr, 'udp.flood', '', '{', '[]',
      ${facet.rows[0]!.id})`.execute(owner)
}

/** Stores hits of a deny rule in the second minute, like the loop of a scrubber. */
async function drop(team: number, destination: string, bytes: number, packets: number): Promise<void> {
  let at = startMs + minuteMs
  const recorder = new HitsRecorder({
    scrubber: `${team} ${destination}`,
    flowStore: store,
    encode: encodeNativeBlock,
    report: (error) => assert.fail(String(error)),
    now: () => at,
  })
  await recorder.record([])
  at += minuteMs
  const rule = { id: 1, match: { destination: parsePrefix(destination) }, action: { kind: 'deny' } } as const
  await recorder.record([{ teamId: team, rule, bytes, packets }])
}

const failing = (error: Error): EventTrafficDeps['flowStore'] => ({
  probe: () => store.probe(),
  insert: (...args) => store.insert(...args),
  command: (...args) => store.command(...args),
  query: async () => {
    throw error
  },
  close: async () => {},
})

const check = Compile(getEventTrafficRoute.response)

async function traffic(
  id: string,
  query: Partial<Parameters<typeof getEventTraffic>[3]> = {},
  as = teamId,
  flowStore: EventTrafficDeps['flowStore'] = store,
  listCounting: EventTrafficDeps['listCounting'] = async () => [],
): Promise<EventTraffic> {
  const answer = await getEventTraffic(
    { postgres: database.postgres, flowStore, listCounting, now: () => now },
    { actor: { teamId: as } as Operation['actor'] },
    id,
    { metric: 'bps', ...query },
  )
  assert.ok(check.Check(answer), JSON.stringify(check.Errors(answer)))
  return answer
}

/** The values of total, dropped and passed in the first minutes of the event. */
function minutes({ timestamps, series }: EventTraffic, number = 4) {
  const first = timestamps.indexOf(new Date(startMs).toISOString())
  return series.map(({ values }) => values.slice(first, first + number))
}

describe('the traffic of an event', () => {
  it('is that of flows to its target, of which the drops of overlapping rules of the team are subtracted', async () => {
    const answer = await traffic('attacked')
    assert.deepEqual(
      [answer.source, answer.interval, answer.start, answer.end],
      ['flows', 60, '2026-03-14T11:35:00.000Z', '2026-03-14T12:11:00.000Z'],
    )
    assert.deepEqual(
      answer.series.map(({ key, unit }) => [key['part'], unit]),
      [
        ['total', 'bps'],
        ['dropped', 'bps'],
        ['passed', 'bps'],
      ],
    )
    // In the third minute the team had flows, but not to the target; in the fourth it had no flows.
    assert.deepEqual(minutes(answer), [
      [10_000, 10_000, 0, null],
      [0, 6_000, 0, 0],
      [10_000, 4_000, 0, null],
    ])
    assert.deepEqual(minutes(await traffic('attacked', { metric: 'pps' }), 2), [
      [100, 100],
      [0, 60],
      [100, 40],
    ])
  })

  it('is that of a prefix of the team, for its shield list', async () => {
    const read = (prefix: string, start?: string) =>
      getShieldTraffic(
        { postgres: database.postgres, flowStore: store, listCounting: async () => [false], now: () => now },
        { actor: { teamId } as Operation['actor'] },
        { prefix, metric: 'bps', interval: 60, ...(start === undefined ? {} : { start }) },
      )
    const answer = await read('203.0.113.0/25', new Date(startMs).toISOString())
    assert.deepEqual([answer.notes, answer.end], [['uncounted'], '2026-03-14T12:11:00.000Z'])
    assert.deepEqual(
      answer.series.map(({ values }) => values.slice(0, 2)),
      [
        [10_000, 11_000],
        [null, null],
        [null, null],
      ],
    )
    const day = await read('203.0.113.200')
    assert.equal(day.timestamps.length, 24 * 60 + 1)
    await assert.rejects(read('198.51.100.0/24'), { code: 'invalid' })
  })

  it('is that of all networks of the event', async () => {
    assert.deepEqual(minutes(await traffic('carpet'), 2)[0], [10_000, 11_000])
  })

  it('never passes less than nothing', async () => {
    const { series } = await traffic('attacked', { interval: 120, start: new Date(startMs).toISOString() })
    assert.deepEqual(series[0]!.values.slice(0, 1), [10_000])
    await drop(teamId, '203.0.113.7/32', 1e9, 1)
    assert.deepEqual(minutes(await traffic('attacked'), 2)[2], [10_000, 0])
  })

  it('is what the detector reported if there are no flows or no store', async () => {
    const quiet = await traffic('quiet')
    assert.equal(quiet.source, 'detector')
    assert.deepEqual(minutes(quiet, 2), [
      [4_000, null],
      // The rule is for a larger network.
      [0, 6_000],
      [4_000, null],
    ])
    const gone = failing(new DriverError('unreachable', 'gone'))
    const without = await traffic('attacked', {}, teamId, gone)
    assert.equal(without.source, 'detector')
    assert.deepEqual(minutes(without, 2), [
      [9_000, null],
      [null, null],
      [null, null],
    ])
  })

  it('has a note about scrubbers that do not count, and no drops if none of them counts', async () => {
    await sql`insert into shield_lists (team_id, prefix, version)
      values (${teamId}, '203.0.113.0/24', 1), (${other}, '203.0.113.0/25', 1)`.execute(
      database.postgres.owner,
    )
    const asked: string[] = []
    const counted = (...counting: boolean[]) =>
      traffic('attacked', {}, teamId, store, async (prefixes) => {
        asked.push(...prefixes)
        return counting
      })
    assert.deepEqual((await counted(true)).notes, [])
    const some = await counted(true, false)
    assert.deepEqual([some.notes, minutes(some, 2)[1]![0]], [['uncounted'], 0])
    const none = await counted(false)
    assert.deepEqual([none.notes, ...minutes(none, 2).slice(1)], [['uncounted'], [null, null], [null, null]])
    assert.deepEqual([...new Set(asked)], ['203.0.113.0/24'], 'lists of the team')
  })

  it('is shown for the window that is asked for, and refused if it is too expensive', async () => {
    const { start, end, timestamps } = await traffic('attacked', { start: '2026-03-14T12:20:00Z', points: 5 })
    assert.deepEqual(
      [start, end, timestamps.length],
      ['2026-03-14T12:20:00.000Z', '2026-03-14T12:21:00.000Z', 1],
    )
    const expensive = failing(new QueryTooExpensive('too much'))
    await assert.rejects(traffic('attacked', {}, teamId, expensive), { code: 'query_too_expensive' })
    await assert.rejects(traffic('attacked', { interval: 60, points: 5 }), { code: 'invalid' })
  })

  it('does not exist for another team', async () => {
    await assert.rejects(traffic('attacked', {}, other), { code: 'not_found' })
  })
})
