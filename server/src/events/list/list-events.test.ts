// The related list, compared with a model that only filters, sorts and cuts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { Compile } from 'typebox/compile'
import {
  eventFlags,
  eventStatuses,
  listRelatedEventsRoute,
  relatedEventOrderings,
} from '@pharos/contract/events/event'
import type { EventFlag, EventStatus } from '@pharos/contract/events/event'
import { classificationLabel } from '@pharos/contract/events/classification'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { overlaps, parsePrefix } from '../../net/prefix.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import type { Event } from '../event/event.ts'
import { insertEvents } from '../event/event.store.ts'
import { flagBits } from '../relate/event-json.ts'
import { createMessageCache } from './message-cache.ts'
import { relateEvents } from '../relate/relationship.ts'
import { teamPart } from '../relate/team-part.ts'
import { getTeamEvent, listTeamEvents } from './list-events.ts'
import { pageStatement } from './event-page.store.ts'
import { parseEventOrdering, parseEventQuery } from './event-query.ts'
import { addPrefix, addTeam, compareCounts } from '../testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const eventsCount = 6_000
const day = 86_400_000
const epoch = Date.UTC(2026, 0, 1)

let database: TestDatabase
let teamA = 0
let teamB = 0
let model: Event[] = []
const heldByB = parsePrefix('10.0.3.3/32')

/** mulberry32 */
function createRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const random = createRandom(7)
const whole = (below: number) => Math.floor(random() * below)
const pick = <T>(list: readonly T[]): T => list[whole(list.length)]!

/** Many ties and some extremes in all filtered and ordered fields. */
function randomEvent(i: number): Event {
  const start = epoch + whole(20) * day + (random() < 0.3 ? 0 : whole(24) * 3_600_000)
  const lasted = pick([0, 1, 1_000, 60_000, 3_600_000, 3 * day, 400 * day])
  const flags = eventFlags.filter((_, bit) => random() < [0.8, 0.2, 0.005, 0.2, 0.1, 0.1, 0.05][bit]!)
  const network = pick([
    `10.0.${whole(4)}.${whole(4)}/32`,
    `10.0.${whole(4)}.0/24`,
    '10.0.0.0/16',
    '0.0.0.0/0',
    `2001:db8::${whole(4).toString(16)}/128`,
    '2001:db8::/32',
  ])
  const description = pick([
    'UDP flood',
    'udp_50%',
    'SYN \\ flood',
    "it's",
    'Ünï',
    '',
    'Flood on {} now',
    `{}: DNS ${i % 700}`,
  ])
  const rate = pick([0, 1, 15, 16, 17, whole(1_000), whole(1e9), 9_007_199_254_740_991])
  return {
    id: `id${String((i * 7_919) % 100_000).padStart(5, '0')}`,
    sourceKey: pick(['test', 'fnm-1']),
    sourceEventId: String(i),
    flags,
    status: pick([
      ['EVENT_PENDING'],
      ['EVENT_ENDED'],
      ['EVENT_ENDED', 'MITIGATION_ENDED'],
    ] as EventStatus[][]),
    affectedNetwork: parsePrefix(network),
    start: new Date(start),
    end: random() < 0.05 ? null : new Date(start + lasted),
    classificationKey: pick(['udp.flood', 'tcp.syn_flood', 'unknown']),
    description: description.replace('{}', network.replace(/[/](32|128)$/, '')),
    sourceTimezone: 'UTC',
    sourceResourceId: '',
    sourceLocationId: '',
    sourceCountry: '',
    sourceLocation: '',
    affectedBps: rate,
    affectedPps: whole(50),
    parsedData: { source: { raw: i } },
    hasAttachment: false,
    sourceDelivery: null,
    sourceReceived: null,
    mergeState: { signals: ['pending'], stamps: {} },
  }
}

before(async () => {
  database = await createTestDatabase()
  const db = database.postgres.owner
  teamA = await addTeam(db, 'a')
  teamB = await addTeam(db, 'b')
  await addPrefix(db, teamA, '0.0.0.0/0')
  await addPrefix(db, teamA, '::/0')
  await addPrefix(db, teamB, heldByB)
  model = Array.from({ length: eventsCount }, (_, i) => randomEvent(i))
  const cache = createOwnershipCache()
  for (let at = 0; at < model.length; at += 1_000) {
    await db.transaction().execute(async (trx) => {
      const ownership = await cache.lock(trx)
      const part = model.slice(at, at + 1_000)
      await insertEvents(trx, part)
      await relateEvents(trx, part, ownership, { isObserved: false })
    })
  }
})
after(() => database[Symbol.asyncDispose]())

type Query = Parameters<typeof listTeamEvents>[2]

function isFound(event: Event, text: string): boolean {
  const { affectedNetwork, classificationKey, description, id, sourceKey } = event
  const texts = [description, classificationKey, classificationLabel(classificationKey), sourceKey]
  if (texts.some((one) => one.toLowerCase().includes(text))) return true
  if (/^[a-z0-9]{6,}$/.test(text) && id.startsWith(text)) return true
  const { network } = parseEventQuery({ ...byDefault, search: text }).search!
  if (network === null) return false
  return 'text' in network
    ? affectedNetwork!.includes(network.text)
    : overlaps(affectedNetwork!, network.prefix)
}

function expected(events: readonly Event[], query: Query): { ids: string[]; count: number } {
  const parsed = parseEventQuery(query)
  const { flags, start, end, network, description, ordering, limit, offset } = parsed
  const passing = events.filter(
    (event) =>
      (query.status === undefined || query.status.some((one) => event.status.includes(one))) &&
      (parsed.classes === null || parsed.classes.some((one) => one === event.classificationKey)) &&
      (parsed.sources === null || parsed.sources.includes(event.sourceKey)) &&
      (parsed.ongoing === null || parsed.ongoing === (event.end === null)) &&
      event.affectedBps >= (parsed.bps ?? 0) &&
      event.affectedPps >= (parsed.pps ?? 0) &&
      (query.search === undefined || isFound(event, query.search.toLowerCase())) &&
      (flags === null || (flagBits(event.flags) & flags) !== 0) &&
      (end === null || event.start <= end) &&
      (start === null || event.end === null || event.end >= start) &&
      (description === null || event.description.toLowerCase().includes(description.toLowerCase())) &&
      (network === null ||
        ('text' in network
          ? event.affectedNetwork!.includes(network.text.toLowerCase())
          : overlaps(event.affectedNetwork!, network.prefix))),
  )
  const values: Record<string, (event: Event) => number | string> = {
    start: (event) => event.start.getTime(),
    affected_bps: (event) => event.affectedBps,
    affected_pps: (event) => event.affectedPps,
    id: (event) => event.id,
    classification_key: (event) => event.classificationKey,
    end: (event) => event.end?.getTime() ?? Infinity,
  }
  passing.sort((a, b) => {
    for (const { key, descending } of ordering) {
      const [x, y] = [values[key]!(a), values[key]!(b)]
      if (x === y) continue
      // No end sorts last in both directions.
      if (x === Infinity || y === Infinity) return x === Infinity ? 1 : -1
      return (x < y ? -1 : 1) * (descending ? -1 : 1)
    }
    return 0
  })
  return { ids: passing.slice(offset, offset + limit).map(({ id }) => id), count: passing.length }
}

const response = Compile(listRelatedEventsRoute.response!)

const reader = (teamId: number) => ({ actor: { teamId, staffRoles: [] } })

async function listed(teamId: number, query: Query): Promise<{ ids: string[]; count: number }> {
  const { raw: body, count } = await listTeamEvents(database, reader(teamId), query)
  const page = JSON.parse(body) as { results: { id: string }[]; count: number }
  assert.ok(response.Check(page))
  assert.deepEqual(Object.keys(page), ['results', 'count'])
  assert.equal(page.count, count)
  return { ids: page.results.map(({ id }) => id), count }
}

const byDefault: Query = {
  ordering: 'event__start,event__end,event__affected_bps,event__affected_pps',
  limit: 100,
  offset: 0,
}

const moment = fc
  .tuple(fc.integer({ min: -2, max: 24 }), fc.constantFrom(0, 0, 1, 3_600_000, 43_200_000))
  .map(([days, ms]) => new Date(epoch + days * day + ms).toISOString())

/** `start` and `end` in the right order, each optional. */
const windows = fc
  .tuple(fc.option(moment, { nil: undefined }), fc.option(moment, { nil: undefined }))
  .map(([a, b]) => {
    const [start, end] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b]
    return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
  })

const ordering = fc.oneof(
  fc.constant(byDefault.ordering),
  fc
    .array(fc.tuple(fc.constantFrom(...relatedEventOrderings), fc.boolean()), { minLength: 1, maxLength: 4 })
    .map((keys) => keys.map(([key, descending]) => (descending ? `-${key}` : key)).join(',')),
)
const flagFilter = fc.subarray([...eventFlags], { minLength: 1, maxLength: 2 }) as fc.Arbitrary<EventFlag[]>
const common = {
  ordering,
  limit: fc.constantFrom(1, 2, 10, 100, 1_000),
  offset: fc.oneof(fc.constantFrom(0, 1, 99, 1_000, 1_001, 5_999, 6_000), fc.integer({ min: 0, max: 6_500 })),
}
const facets = {
  flag: flagFilter,
  status: fc.subarray([...eventStatuses], { minLength: 1, maxLength: 2 }),
  classification_key: fc.subarray(['udp.flood', 'tcp.syn_flood', 'ip.flood'] as const, { minLength: 1 }),
  source_key: fc.subarray(['test', 'fnm-1', 'none'], { minLength: 1 }),
}
/** Mostly absent, so that every way to find a page is taken. */
const seldom = <T>(values: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values })
const rates = fc.constantFrom(0, 1, 16, 17, 500, 1_000_000, 9_007_199_254_740_991)
const values = {
  ongoing: seldom(fc.boolean()),
  min_bps: seldom(rates),
  min_pps: seldom(fc.constantFrom(0, 1, 20, 49, 50)),
}
const needed = { requiredKeys: ['ordering', 'limit', 'offset'] as const }
const withoutUndefined = (query: object) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
const rollups = fc
  .tuple(
    fc.record(
      Object.fromEntries(Object.entries(facets).map(([name, one]) => [name, seldom(one)])) as typeof facets,
    ),
    fc.record({ ...values, ...common }, { requiredKeys: [...needed.requiredKeys] }),
    windows,
  )
  .map(([facet, query, window]) => withoutUndefined({ ...facet, ...query, ...window }))
const texts = fc.constantFrom(
  'udp',
  'FLOOD',
  '%',
  '_',
  '\\',
  "'",
  'Ünï',
  'none',
  'flood  ',
  'on 10.0.',
  '.1 now',
  'd on 2001',
  'DNS 12',
  '0.0: dns',
  '2001:db8::1: DNS',
  '10.0.1.2',
  'd',
  '::',
  '/24',
)
const searched = fc.oneof(
  texts.filter((text) => text.length > 1),
  fc.constantFrom(
    'fnm',
    'SYN',
    'tcp.',
    'unknown kind',
    'test',
    '10.0.1.2',
    '10.0.0.0/15',
    '10.0.1',
    '2001:DB8',
  ),
  fc.integer({ min: 0, max: eventsCount }).map((n) => model[n % model.length]!.id),
  fc.constantFrom('ID0000', 'id0001', 'id0'),
)
const searches = fc
  .tuple(
    fc.record(
      {
        flag: flagFilter,
        affected_network: fc.constantFrom(
          '10.0.1.2',
          '10.0.1.2/32',
          '10.0.1.0/24',
          '10.0.0.0/15',
          '10.0.0.0/16',
          '0.0.0.0/0',
          '11.0.0.0/8',
          '::/0',
          '2001:db8::2',
          '2001:DB8:0::/48',
          '10.0.',
          '/24',
          'DB8',
          '%',
          '_',
          '\\',
        ),
        description: texts,
        search: searched,
        status: seldom(facets.status),
        ...values,
        ...common,
      },
      { requiredKeys: ['ordering', 'limit', 'offset'] },
    ),
    windows,
  )
  .map(([query, window]) => withoutUndefined({ ...query, ...window }))
const textSearches = fc
  .tuple(
    fc.oneof(fc.record({ search: searched }), fc.record({ description: texts })),
    fc.record({ flag: seldom(flagFilter), ongoing: seldom(fc.boolean()), ...common }),
    windows,
  )
  .map(([text, query, window]) => withoutUndefined({ ...text, ...query, ...window }))

describe('the related list', () => {
  test('the maintained counts equal the actual counts', async () => {
    const { kept, counted } = await compareCounts(database.postgres.owner)
    assert.deepEqual(kept, counted)
  })

  test('by flags, window, ordering and paging equals the model', async () => {
    await fc.assert(
      fc.asyncProperty(rollups, async (query) => {
        assert.deepEqual(await listed(teamA, query as Query), expected(model, query as Query))
      }),
      { numRuns: scaled(150) },
    )
  })

  test('is the same for every way to find a page', async () => {
    const db = database.postgres.owner
    await fc.assert(
      fc.asyncProperty(
        rollups,
        fc.constantFrom(0, 10, 1e9),
        fc.constantFrom(0, 100, 1e9),
        async (query, walkMax, gatherMax) => {
          const parsed = parseEventQuery(query as Query)
          const { rows } = await pageStatement(teamA, parsed, { walkMax, gatherMax }).execute(db)
          const found = JSON.parse(`[${rows[0]!.results}]`) as { id: string }[]
          assert.deepEqual(
            { ids: found.map(({ id }) => id), count: rows[0]!.count },
            expected(model, query as Query),
          )
        },
      ),
      { numRuns: scaled(150) },
    )
  })

  test('by network, text and values equals the model', async () => {
    await fc.assert(
      fc.asyncProperty(searches, async (query) => {
        assert.deepEqual(await listed(teamA, query as Query), expected(model, query as Query))
      }),
      { numRuns: scaled(100) },
    )
  })

  test('by text alone and with counted filters equals the model', async () => {
    await fc.assert(
      fc.asyncProperty(textSearches, async (query) => {
        assert.deepEqual(await listed(teamA, query as Query), expected(model, query as Query))
      }),
      { numRuns: scaled(150) },
    )
  })

  test('page by page returns every event once, in every order', async () => {
    for (const key of relatedEventOrderings.slice(0, 6)) {
      for (const sign of ['', '-']) {
        const seen: string[] = []
        for (let offset = 0; offset < eventsCount; offset += 1_000) {
          const page = await listed(teamA, { ...byDefault, ordering: sign + key, limit: 1_000, offset })
          seen.push(...page.ids)
        }
        assert.equal(new Set(seen).size, eventsCount, sign + key)
        assert.equal(seen.length, eventsCount)
      }
    }
  })

  test('an offset past the end returns no results and the exact count', async () => {
    for (const key of ['start', '-start', 'end', '-end', 'affected_bps', '-affected_pps', 'id']) {
      const page = await listed(teamA, { ...byDefault, ordering: key, offset: 999_999_999_999_999 })
      assert.deepEqual(page, { ids: [], count: eventsCount })
    }
  })

  test('a team sees only its own events, in the list and in the detail', async () => {
    const visible = model
      .filter(({ affectedNetwork }) => overlaps(affectedNetwork!, heldByB))
      .map((event) => teamPart(event, [heldByB]))
    assert.ok(visible.length > 10 && visible.length < eventsCount)
    await fc.assert(
      fc.asyncProperty(rollups, async (query) => {
        assert.deepEqual(await listed(teamB, query as Query), expected(visible, query as Query))
      }),
      { numRuns: scaled(50) },
    )
    const hidden = model.find(({ affectedNetwork }) => !overlaps(affectedNetwork!, heldByB))!
    await assert.rejects(getTeamEvent(detailDeps(), reader(teamB), hidden.id), {
      code: 'not_found',
    })
    await assert.rejects(getTeamEvent(detailDeps(), reader(teamB), 'timeseries'), {
      code: 'not_found',
    })
    assert.deepEqual(await listed(teamB + 1, byDefault), { ids: [], count: 0 })
  })

  test('row-level security alone hides the events of others', async () => {
    const rows = (table: 'team_events' | 'events' | 'event_relationships' | 'team_event_counts') =>
      database.postgres.inTeam(teamB, (trx) => trx.selectFrom(table).selectAll().execute())
    assert.deepEqual(
      new Set((await rows('team_events')).map((row) => 'team_id' in row && row.team_id)),
      new Set([teamB]),
    )
    const own = model.filter(({ affectedNetwork }) => affectedNetwork === heldByB)
    assert.ok(own.length > 0)
    assert.deepEqual(
      new Set((await rows('events')).map((row) => 'id' in row && row.id)),
      new Set(own.map(({ id }) => id)),
    )
    for (const table of ['event_relationships', 'team_event_counts'] as const) {
      assert.ok((await rows(table)).every((row) => 'team_id' in row && row.team_id === teamB))
    }
  })
})

const detailDeps = () => ({ postgres: database.postgres, messages: createMessageCache() })

describe('the detail', () => {
  test('is the event of the list with parsed_data and has_attachment, without relationships', async () => {
    const { raw: body } = await listTeamEvents(database, reader(teamB), { ...byDefault, limit: 1 })
    const [{ relationships, ...record }] = (JSON.parse(body) as { results: [Record<string, unknown>] })
      .results
    assert.ok(Array.isArray(relationships))
    const detail = JSON.parse(
      (await getTeamEvent(detailDeps(), reader(teamB), String(record.id))).body.raw,
    ) as unknown
    const { parsedData } = teamPart(
      model.find(({ id }) => id === record.id)!,
      [heldByB],
    )
    assert.deepEqual(detail, { ...record, parsed_data: parsedData, has_attachment: false })
  })
})

describe('the query', () => {
  const parse = (query: Partial<Query>) => parseEventQuery({ ...byDefault, ...query })

  test('accepts each key with and without event__, once, and appends the id', () => {
    assert.deepEqual(parseEventOrdering('-event__start,start,end'), [
      { key: 'start', descending: true },
      { key: 'end', descending: false },
      { key: 'id', descending: false },
    ])
    assert.deepEqual(parseEventOrdering('-id,start'), [{ key: 'id', descending: true }])
  })

  test('parses an address or CIDR as a prefix, and anything else as text', () => {
    assert.deepEqual(parse({ affected_network: ' 2001:DB8::1 ' }).network, { prefix: '2001:db8::1/128' })
    for (const text of ['10.0.', '10.0.0.0/', 'x', '%', '10.0.0.01']) {
      assert.deepEqual(parse({ affected_network: text }).network, { text })
    }
  })

  test('rejects an almost valid prefix with a suggestion', () => {
    const cases: [string, unknown][] = [
      ['10.0.0.7/24', { canonical: '10.0.0.0/24' }],
      ['::ffff:10.0.0.7', { canonical: '10.0.0.7' }],
      ['10.0.0.0/33', undefined],
    ]
    for (const [text, ctx] of cases) {
      assert.throws(
        () => parse({ affected_network: text }),
        (error: { code: string; errors: { loc: unknown; ctx?: unknown }[] }) => {
          assert.equal(error.code, 'invalid')
          assert.deepEqual(error.errors[0]!.loc, ['query', 'affected_network'])
          assert.deepEqual(error.errors[0]!.ctx, ctx)
          return true
        },
      )
    }
  })

  test('rejects a window that ends before it starts, and accepts an empty one', () => {
    const [earlier, later] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
    assert.throws(() => parse({ start: later, end: earlier }), { code: 'invalid' })
    assert.deepEqual(parse({ start: later, end: later }).end, new Date(later))
  })
})
