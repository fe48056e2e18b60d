// Plans of the related list while its statistics are out of date: a connection prepares the statements, then many events
// arrive. Compared are the rows that a plan visits, since times depend on the machine.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Event } from '../event/event.ts'
import { insertEvents } from '../event/event.store.ts'
import { pageStatement } from './event-page.store.ts'
import { parseEventQuery } from './event-query.ts'
import { relateEvents } from '../relate/relationship.ts'
import { addPrefix, addTeam } from '../testing.ts'

const visitsMax = 15_000
/** Six lookups in an index for each of 500 facets, with three blocks each, and the events. */
const buffersMax = 30_000

const search = { search: 'made for the list' }
const window = { start: '2025-01-02T00:00:00Z', end: '2025-01-03T00:00:00Z' }
const status = { status: ['EVENT_ENDED' as const] }

const shapes: Record<string, Partial<Parameters<typeof parseEventQuery>[0]>> = {
  'first page': {},
  search,
  'large page of a search': { ...search, limit: 1_000 },
  'search by rate': { ...search, ordering: '-event__affected_bps' },
  'search by end': { ...search, ordering: '-event__end' },
  'search in a window': { ...search, ...window },
  'search for ended events': { ...search, ongoing: false },
  'search for events that have not ended': { ...search, ongoing: true },
  'search for an address': { search: '203.0.113.7' },
  'search with a minimum rate': { ...search, min_bps: 5_000 },
  'search in a network': { ...search, affected_network: '203.0.113.0/24' },
  'search with a description': { ...search, description: 'number' },
  description: { description: 'made for the list' },
  status,
  'deep page of a status': { ...status, offset: 1_500 },
  'status in a window': { ...status, ...window },
  'deep page of a status in a window': { ...status, ...window, offset: 500 },
  'status by rate': { ...status, ordering: '-event__affected_bps' },
  'status by end': { ...status, ordering: '-event__end' },
  'status with a minimum rate': { ...status, min_bps: 5_000 },
  'class in a network': { classification_key: ['tcp.syn_flood'], affected_network: '203.0.113.0/25' },
  window,
  'deep page by rate': { ordering: '-event__affected_bps', offset: 1_500 },
}

type Plan = {
  readonly Plans?: readonly Plan[]
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

let database: TestDatabase
const cache = createOwnershipCache()

before(async () => {
  database = await createTestDatabase()
  for (const table of ['team_events', 'team_event_facets', 'team_event_counts'])
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(
      database.postgres.owner,
    )
})
after(() => database[Symbol.asyncDispose]())

/** Every event has another description. */
function eventOf(i: number, subnet: string): Event {
  const start = Date.UTC(2025, 0, 1) + (i % 10_000) * 60_000
  return {
    id: `id${String(i).padStart(6, '0')}`,
    sourceKey: 'edge',
    sourceEventId: String(i),
    flags: [],
    status: ['EVENT_ENDED'],
    affectedNetwork: parsePrefix(`${subnet}.${i % 250}/32`),
    start: new Date(start),
    end: new Date(start + 30_000),
    classificationKey: 'tcp.syn_flood',
    description: `made for the list, number ${i}`,
    sourceTimezone: 'UTC',
    sourceResourceId: '',
    sourceLocationId: '',
    sourceCountry: '',
    sourceLocation: '',
    affectedBps: i * 1_000,
    affectedPps: 10_000,
    parsedData: {},
    hasAttachment: false,
    sourceDelivery: null,
    sourceReceived: null,
    mergeState: { signals: ['ended'], stamps: {} },
  }
}

async function insert(subnet: string, from: number, until: number): Promise<void> {
  for (let at = from; at < until; at += 500) {
    const length = Math.min(500, until - at)
    const events = Array.from({ length }, (_, i) => eventOf(at + i, subnet))
    await database.postgres.owner.transaction().execute(async (trx) => {
      const ownership = await cache.lock(trx)
      await insertEvents(trx, events)
      await relateEvents(trx, events, ownership, { isObserved: false })
    })
  }
}

function literal(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join()}}` : String(value),
  )
}

/** Prepares and runs every statement on a connection that keeps the generic plan, as the fifth execution would. */
async function prepare(teamId: number) {
  const client = await database.postgres.directConnection()
  await client.query(`set role pharos_tenant; set pharos.team_id = '${teamId}'; set jit = off;
    set max_parallel_workers_per_gather = 0; set plan_cache_mode = force_generic_plan`)
  const statements = new Map<string, string>()
  for (const [name, shape] of Object.entries(shapes)) {
    const query = parseEventQuery({ ordering: 'event__start', limit: 50, offset: 0, ...shape })
    const { sql: text, parameters } = pageStatement(teamId, query).compile(database.postgres.owner)
    const values = parameters.length > 0 ? `(${parameters.map(literal).join()})` : ''
    await client.query(`prepare "${name}" as ${text}`)
    await client.query(`execute "${name}"${values}`)
    statements.set(name, `execute "${name}"${values}`)
  }
  const measure = async (name: string) => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, buffers, format json) ${statements.get(name)}`,
    )
    const [{ Plan: plan }] = rows[0]!['QUERY PLAN']
    return { visits: visitsOf(plan), buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] }
  }
  return { measure, [Symbol.asyncDispose]: () => client.end() }
}

/** The most rows that one node of the plan reads, in all of its loops. */
function visitsOf(plan: Plan): number {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)
  return Math.max((plan['Actual Rows'] + removed) * plan['Actual Loops'], ...(plan.Plans ?? []).map(visitsOf))
}

async function assertBounded(teamId: number, arrive: () => Promise<void>): Promise<void> {
  await using prepared = await prepare(teamId)
  await arrive()
  const slow: Record<string, unknown> = {}
  for (const name of Object.keys(shapes)) {
    const measured = await prepared.measure(name)
    if (measured.visits > visitsMax || measured.buffers > buffersMax) slow[name] = measured
  }
  assert.deepEqual(slow, {})
}

describe('a statement of the related list that was prepared', () => {
  test('before the first events visits each of 3,000 a few times', async () => {
    const teamId = await addTeam(database.postgres.owner, 'a')
    await addPrefix(database.postgres.owner, teamId, '203.0.113.0/24')
    await assertBounded(teamId, () => insert('203.0.113', 0, 3_000))
  })

  test('with few events visits each of 2,000 a few times, although the statistics are of another team', async () => {
    const teamId = await addTeam(database.postgres.owner, 'b')
    await addPrefix(database.postgres.owner, teamId, '198.51.100.0/24')
    await insert('198.51.100', 10_000, 10_030)
    await sql`analyze team_events, team_event_facets, team_event_counts`.execute(database.postgres.owner)
    await assertBounded(teamId, () => insert('198.51.100', 10_030, 12_000))
  })
})
