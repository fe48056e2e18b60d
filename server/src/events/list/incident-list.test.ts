import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { getIncidentTimeseries } from './event-timeseries.ts'
import { getIncident, listIncidents, confidenceOf } from './incident-list.ts'
import { listIncidentRows } from './incident-list.store.ts'
import { ingestDeliveries } from '../ingest/ingest.ts'
import { listEvents, listTeamEvents } from './list-events.ts'
import { parseEventQuery } from './event-query.ts'
import { listStaffIncidents } from './staff-incident.ts'
import { addPrefix, addSource, addTeam, deliver, removeEvents } from '../testing.ts'

let database: TestDatabase
let team = 0

before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute))
type Attack = {
  readonly id: string
  readonly ip: string
  readonly start: number
  readonly end?: number
  readonly rate?: number
  readonly class?: string
}

async function report(source: string, attacks: readonly Attack[]): Promise<void> {
  const bodies = attacks.map(({ start, end, ...rest }) => ({
    ...rest,
    start: at(start).toISOString(),
    ...(end === undefined ? {} : { end: at(end).toISOString() }),
  }))
  await deliver(database.postgres.owner, source, bodies)
}

beforeEach(async () => {
  const db = database.postgres.owner
  await removeEvents(db)
  team = await addTeam(db, 'a')
  await addPrefix(db, team, '203.0.113.0/24', 'web')
  const fields = {
    id: '/id',
    network: '/ip',
    bps: '/rate',
    start: '/start',
    end: '/end',
    classification: '/class',
  }
  const words = { classification: { dns: 'udp.amplification.dns', syn: 'tcp.syn_flood' } }
  for (const key of ['edge', 'flows'])
    await addSource(db, key, { kind: 'generic', settings: { fields, words } })
  await report('edge', [
    { id: '1', ip: '203.0.113.7', start: 0, end: 10, rate: 3_000, class: 'dns' },
    { id: '2', ip: '203.0.113.8', start: 2, end: 12, rate: 4_000, class: 'dns' },
    { id: '3', ip: '203.0.113.200', start: 0, end: 5, rate: 500 },
    { id: '4', ip: '203.0.113.201', start: 200, rate: 900, class: 'syn' },
  ])
  await report('flows', [
    { id: '5', ip: '203.0.113.0/27', start: 1, end: 14, rate: 6_500, class: 'dns' },
    { id: '6', ip: '203.0.113.201', start: 201, end: 204, rate: 1_000, class: 'syn' },
  ])
  await ingestDeliveries(database.postgres, createOwnershipCache())
})

const deps = () => ({ postgres: database.postgres, now: () => at(300) })
const reader = () => ({ actor: { teamId: team, staffRoles: [] } })
const list = (query: Partial<Parameters<typeof listIncidents>[2]> = {}) =>
  listIncidents(deps(), reader(), { ordering: '-start', limit: 100, offset: 0, ...query })
const short = ({ results }: Awaited<ReturnType<typeof list>>) =>
  results.map(({ network, affected_bps, event_count }) => `${network} ${affected_bps} ${event_count}`)

const [carpet, small, ongoing] = [
  '203.0.113.0/27 7000 3',
  '203.0.113.200/32 500 1',
  '203.0.113.201/32 1000 2',
]

describe('the confidence in an incident', () => {
  const of = (thresholds: Readonly<Record<string, unknown>> | null, more: object = {}) =>
    confidenceOf({
      class: 'udp.flood',
      sources: ['flows'],
      bps: 300,
      pps: 0,
      events: [{ verdict: null, thresholds }],
      ...more,
    })

  test('is by the lower bound of the rate if traffic is sampled, else by the peak', () => {
    assert.equal(of({ bps: 150 }), 'high')
    assert.equal(of({ bps: 151 }), 'medium')
    assert.equal(of({ bps: 150, lower_bps: 299 }), 'medium')
    assert.equal(of({ bps: 150, lower_bps: 300 }), 'high')
    assert.equal(of({ pps: 5, lower_pps: 10 }), 'high')
    assert.equal(of({ pps: 5, lower_pps: 9 }), 'medium')
    assert.equal(of(null), 'medium')
  })

  test('is low unless 60 % are one known kind, also of two detectors', () => {
    assert.equal(of({ bps: 150, lower_bps: 300, leading_share: 0.6 }), 'high')
    assert.equal(of({ bps: 150, lower_bps: 300, leading_share: 0.59 }), 'low')
    assert.equal(of({ bps: 150, leading_share: 0.9 }, { class: 'tcp.flood' }), 'low')
    const unsure = { verdict: null, thresholds: { leading_share: 0.5 } }
    const sources = ['edge', 'flows']
    assert.equal(of(null, { sources, events: [unsure] }), 'low')
    assert.equal(of(null, { sources, events: [unsure, { verdict: null, thresholds: null }] }), 'high')
    assert.equal(of(null, { events: [{ verdict: 'attack', thresholds: null }] }), 'high')
  })
})

describe('the list of incidents', () => {
  test('has an attack once, with the greatest of the sums of its detectors', async () => {
    const { results, count } = await list()
    assert.equal(count, 3)
    const { id: _, relationships, ...attack } = results.find(({ event_count }) => event_count === 3)!
    assert.deepEqual(attack, {
      network: '203.0.113.0/27',
      direction: 'incoming',
      classification_key: 'udp.amplification.dns',
      start: at(0).toISOString(),
      end: at(14).toISOString(),
      affected_bps: 7_000,
      affected_pps: 0,
      sources: ['edge', 'flows'],
      event_count: 3,
      confidence: 'high',
      mitigation: 'none',
      flags: [],
      status: ['EVENT_ENDED'],
    })
    assert.deepEqual(
      relationships.map(({ match_resouce_name, match_type }) => [match_resouce_name, match_type]),
      [['web', 'covers']],
    )
    assert.deepEqual(results.map(({ confidence, end }) => [confidence, end === null]).toSorted(), [
      ['high', false],
      ['high', true],
      ['low', false],
    ])
  })

  test('counts by window, kind, detector and judgement as the events are, however many it may gather', async () => {
    const eventsOf = async (query: Partial<Parameters<typeof listTeamEvents>[2]>) => {
      const { raw } = await listTeamEvents(deps(), reader(), {
        ordering: 'id',
        limit: 100,
        offset: 0,
        ...query,
      })
      return (JSON.parse(raw) as { results: { id: string; incident?: { id: string } }[] }).results
    }
    const events = await eventsOf({ include: 'incident' })
    const incidentOf = new Map(events.map(({ id, incident }) => [id, incident!.id]))
    const windows = [
      {},
      { start: at(11).toISOString() },
      { end: at(1).toISOString() },
      { start: at(3).toISOString(), end: at(6).toISOString() },
      { start: at(190).toISOString(), end: at(203).toISOString() },
      { start: at(400).toISOString() },
    ]
    const filters = [
      {},
      { classification_key: ['udp.amplification.dns' as const] },
      { source_key: ['flows'] },
      { source_key: ['edge'], classification_key: ['tcp.syn_flood' as const] },
    ]
    for (const window of windows)
      for (const filter of filters) {
        const query = { ...window, ...filter, limit: 100, offset: 0 }
        const passing = await eventsOf({ ...window, ...filter })
        const wanted = [...new Set(passing.map(({ id }) => incidentOf.get(id)!))].toSorted()
        for (const [ordering, max, more] of [
          ['-start', 0, {}],
          ['affected_bps', 20_000, { false_positive: false }],
        ] as const) {
          const parsed = parseEventQuery({ ...query, ...more, ordering } as never)
          const { rows, count } = await listIncidentRows(database.postgres, team, parsed, max)
          const name = JSON.stringify({ window, filter, ordering, max, more })
          assert.deepEqual(rows.map(({ id }) => id).toSorted(), wanted, name)
          assert.equal(Number(count), wanted.length, name)
          const first = await listIncidentRows(
            database.postgres,
            team,
            { ...parsed, limit: 1, offset: 1 },
            max,
          )
          assert.deepEqual(
            [first.rows.map(({ id }) => id), Number(first.count)],
            [rows.slice(1, 2).map(({ id }) => id), Number(count)],
            name,
          )
        }
      }
  })

  test('has the same pages with a filter that every incident passes as without one', async () => {
    for (const ordering of [
      '-start',
      'affected_bps',
      '-affected_bps',
      'end',
      '-end',
      '-classification_key,start',
      'id',
    ] as const) {
      const all = await list({ ordering })
      assert.deepEqual(await list({ ordering, affected_network: '203.0.113.0/24' }), all, ordering)
      for (const offset of [0, 1, 2, 3]) {
        const page = await list({ ordering, limit: 1, offset })
        assert.deepEqual(page, { results: all.results.slice(offset, offset + 1), count: 3 }, ordering)
      }
    }
  })

  test('is filtered by its events, and by its own rates and end', async () => {
    const passing = async (query: Parameters<typeof list>[0]) =>
      short(await list({ ordering: '-affected_bps', ...query }))
    assert.deepEqual(await passing({}), [carpet, ongoing, small])
    assert.deepEqual(await passing({ affected_network: '203.0.113.8' }), [carpet])
    assert.deepEqual(await passing({ source_key: ['flows'] }), [carpet, ongoing])
    assert.deepEqual(await passing({ classification_key: ['tcp.syn_flood'] }), [ongoing])
    assert.deepEqual(await passing({ min_bps: 7_000 }), [carpet])
    assert.deepEqual(await passing({ ongoing: true }), [ongoing])
    assert.deepEqual(await passing({ ongoing: false }), [carpet, small])
    assert.deepEqual(await passing({ start: at(13).toISOString() }), [carpet, ongoing])
    assert.deepEqual(await passing({ search: 'dns' }), [carpet])
    assert.deepEqual(await passing({ status: ['EVENT_ENDED'], end: at(20).toISOString() }), [carpet, small])
  })
})

describe('the incidents of all teams', () => {
  const listAll = (query: Partial<Parameters<typeof listStaffIncidents>[2]> = {}) =>
    listStaffIncidents(deps(), undefined, {
      ordering: '-start',
      limit: 100,
      offset: 0,
      start: at(0).toISOString(),
      ...query,
    })

  test('are those that each of them sees, with its name', async () => {
    const own = await list()
    const { results, count } = await listAll()
    assert.equal(count, own.count)
    assert.deepEqual(
      results,
      own.results.map((incident) => ({ ...incident, team: { id: team, name: 'a' } })),
    )
    for (const ordering of ['affected_bps', '-end', 'classification_key'] as const) {
      const sorted = (await list({ ordering })).results.map(({ id }) => id)
      assert.deepEqual(
        (await listAll({ ordering })).results.map(({ id }) => id),
        sorted,
      )
      assert.deepEqual(
        (await listAll({ ordering, limit: 1, offset: 1 })).results.map(({ id }) => id),
        sorted.slice(1, 2),
      )
    }
  })

  test('are filtered by team, window and whether they last', async () => {
    assert.deepEqual(short(await listAll({ ongoing: true })), [ongoing])
    assert.deepEqual(short(await listAll({ ongoing: false })).toSorted(), [carpet, small].toSorted())
    assert.deepEqual(short(await listAll({ end: at(100).toISOString(), start: at(6).toISOString() })), [
      carpet,
    ])
    assert.deepEqual((await listAll({ team_id: [team] })).count, 3)
    assert.deepEqual(await listAll({ team_id: [team + 1_000] }), { results: [], count: 0 })
  })
})

describe('an incident', () => {
  const eventIds = async () => {
    const { raw } = await listTeamEvents(deps(), reader(), { ordering: 'start', limit: 100, offset: 0 })
    return (JSON.parse(raw) as { results: { id: string }[] }).results.map(({ id }) => id)
  }

  test('is found by the id of each of its events, with all of them', async () => {
    for (const id of await eventIds()) {
      const { body } = await getIncident(deps(), reader(), id)
      assert.ok(body.events.some((event) => event.id === id))
      assert.equal(body.event_count, body.events.length)
      const { events: _, ...listed } = body
      assert.deepEqual(
        (await list()).results.find((one) => one.id === body.id),
        listed,
      )
      const query = { ordering: 'start', limit: 100, offset: 0, incident: id } as const
      const { raw } = await listTeamEvents(deps(), reader(), { ...query, include: 'incident' })
      const page = JSON.parse(raw) as { results: { incident: object }[]; count: number }
      assert.equal(page.count, body.event_count)
      const { sources, event_count } = body
      for (const { incident } of page.results)
        assert.deepEqual(incident, { id: body.id, sources, event_count })
      const actor = { kind: 'token', teamId: team, isStaff: true, staffRoles: ['admin'], tokenId: 1 } as never
      assert.equal((await listEvents(deps(), { actor }, query)).count, body.event_count)
      const limited = { ...query, affected_network: '203.0.113.7' }
      assert.equal((await listTeamEvents(deps(), reader(), limited)).count, body.events.length === 3 ? 2 : 0)
    }
  })

  test('of another team does not exist', async () => {
    const [id] = await eventIds()
    const other = await addTeam(database.postgres.owner, 'b')
    await assert.rejects(getIncident(deps(), { actor: { teamId: other, staffRoles: [] } }, id!), {
      code: 'not_found',
    })
  })

  test('is a false positive if all of its events are, and can be left out', async () => {
    const results = async (query: Parameters<typeof list>[0]) =>
      short(await list({ ordering: '-affected_bps', ...query }))
    await sql`
      update team_event_facets set status = status | 64 where source_key = 'edge' and classification_key = 'unknown'`.execute(
      database.postgres.owner,
    )
    await sql`
      update team_events set record = replace(record, '"EVENT_ENDED"', '"EVENT_ENDED","FALSE_POSITIVE"')
      where affected_network = '203.0.113.200/32'`.execute(database.postgres.owner)
    assert.deepEqual(await results({ false_positive: false }), [carpet, ongoing])
    assert.deepEqual(await results({ false_positive: true }), [small])
    const { results: all } = await list()
    assert.deepEqual(all.find(({ event_count: count }) => count === 1)?.status, [
      'EVENT_ENDED',
      'FALSE_POSITIVE',
    ])
  })
})

test('an incident counts once in each bucket of its time', async () => {
  const { body } = await getIncidentTimeseries(deps(), reader(), {
    start: at(0).toISOString(),
    end: at(240).toISOString(),
    interval: 3_600,
    metric: 'count',
    limit: 10,
  } as Parameters<typeof getIncidentTimeseries>[2])
  assert.deepEqual(
    body.series.map(({ values, unit }) => [values, unit]),
    [[[2, 0, 0, 1], 'incidents']],
  )
})
