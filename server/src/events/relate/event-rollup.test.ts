// The counts and the rollup after any sequence of changes, compared with the current events; and time series from the
// rollup compared with a loop over the events.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache, type OwnershipCache } from '../../inventory/holding/ownership.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Operation } from '../../operation/operation.ts'
import type { Event } from '../event/event.ts'
import { insertEvents, lockEvents, saveEvents } from '../event/event.store.ts'
import { rateBucket, type CountedEvent } from './event-rollup.ts'
import { getRelatedTimeseries } from '../list/event-timeseries.ts'
import { relateEvents } from './relationship.ts'
import { rematch } from './rematch.ts'
import { addPrefix, addTeam, compareCounts } from '../testing.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const epoch = Date.UTC(2026, 2, 27)
const now = new Date(epoch + 6 * dayMs)
const steps = 60

let state = 5
const whole = (below: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}
const pick = <T>(values: readonly T[]): T => values[whole(values.length)]!

let database: TestDatabase
let cache: OwnershipCache
const teams: number[] = []
const networks = ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24']

before(async () => {
  database = await createTestDatabase()
  cache = createOwnershipCache()
  for (const slug of ['a', 'b']) teams.push(await addTeam(database.postgres.owner, slug))
})
after(() => database[Symbol.asyncDispose]())

/** Times are often exactly on a border of a quarter. */
const randomTime = () => epoch + pick([whole(6 * dayMs), whole(6 * 96) * 15 * minuteMs])
const durations = [
  0,
  1,
  minuteMs,
  15 * minuteMs,
  50 * minuteMs,
  9 * 60 * minuteMs,
  dayMs,
  dayMs + 1,
  3 * dayMs,
  30 * dayMs,
  30 * dayMs + 1,
]

function changed(event: Event): Event {
  const start = pick([event.start.getTime(), event.start.getTime(), randomTime()])
  const end = whole(6) === 0 ? null : new Date(start + pick(durations))
  return {
    ...event,
    start: new Date(start),
    end: pick([end, event.end && event.end.getTime() >= start ? event.end : end]),
    classificationKey: pick([event.classificationKey, 'udp.flood', 'tcp.syn_flood']),
    affectedBps: pick([event.affectedBps, whole(1e6), whole(1e12)]),
    affectedPps: pick([event.affectedPps, whole(50)]),
  }
}

const created = (n: number): Event =>
  changed({
    id: `event${String(n).padStart(8, '0')}`,
    sourceKey: 'test',
    sourceEventId: String(n),
    flags: ['INCOMING'],
    status: ['EVENT_ENDED'],
    affectedNetwork: parsePrefix(`10.0.${whole(3)}.${whole(250)}/32`),
    start: new Date(randomTime()),
    end: null,
    classificationKey: 'unknown',
    description: 'an attack',
    sourceTimezone: 'UTC',
    sourceResourceId: '',
    sourceLocationId: '',
    sourceCountry: '',
    sourceLocation: '',
    affectedBps: 0,
    affectedPps: 0,
    parsedData: {},
    hasAttachment: false,
    sourceDelivery: null,
    sourceReceived: null,
    mergeState: { signals: ['pending'], stamps: {} },
  })

/** Writes events like the ingest loop and a replay. */
async function write(events: readonly Event[], isNew: boolean): Promise<void> {
  await cache.refresh(database.postgres.owner)
  await database.postgres.owner.transaction().execute(async (trx) => {
    const ownership = await cache.lock(trx)
    await lockEvents(
      trx,
      events.map(({ id }) => id),
    )
    await (isNew ? insertEvents(trx, events) : saveEvents(trx, events))
    await relateEvents(trx, events, ownership, { isObserved: true })
  })
}

/** A prefix is lost, or a team gets it. */
async function movePrefix(): Promise<void> {
  const db = database.postgres.owner
  const prefix = pick(networks)
  const { rows } = await sql`delete from prefixes where prefix = ${prefix} returning id`.execute(db)
  if (rows.length === 0) await addPrefix(db, pick(teams), prefix)
  await rematch(database.postgres, cache, undefined, 20)
}

async function requireSeries(): Promise<void> {
  const teamId = pick(teams)
  const start = epoch + whole(5 * dayMs)
  const query = {
    start: new Date(start).toISOString(),
    end: new Date(start + pick([6 * 60 * minuteMs, 2 * dayMs])).toISOString(),
    interval: pick([900, 3_600, 7_200, 43_200, 86_400]),
    timezone: pick(['UTC', 'Europe/Amsterdam', 'Asia/Kathmandu', 'Australia/Adelaide']),
    metric: pick(['count', 'max_bps', 'max_pps'] as const),
    limit: 10,
  }
  const classes = pick([null, ['udp.flood', 'unknown'] as const])
  const { body } = await getRelatedTimeseries(
    { postgres: database.postgres, now: () => now },
    { actor: { teamId } } as Operation,
    { ...query, ...(classes && { classification_key: [...classes] }) },
  )
  const { rows } = await sql<CountedEvent>`select * from team_events where team_id = ${teamId}`.execute(
    database.postgres.owner,
  )
  const events = rows.filter(
    ({ classification_key }) => classes?.some((one) => one === classification_key) ?? true,
  )
  const borders = [...body.timestamps, body.end].map((at) => new Date(at))
  const expected = borders.slice(0, -1).map((from, index) => {
    if (from > now) return null
    const found = events.filter(
      ({ start_at, end_at }) => start_at < borders[index + 1]! && (end_at === null || end_at >= from),
    )
    if (query.metric === 'count') return found.length
    const rates = found.map((event) => (query.metric === 'max_bps' ? event.affected_bps : event.affected_pps))
    return rates.length === 0 ? null : Math.max(...rates)
  })
  assert.deepEqual(body.series[0]!.values, expected, JSON.stringify({ ...query, classes }))
}

it('keeps counts and rollup exact through new events, changes of any kind, and prefixes that are lost and found', async () => {
  const known: Event[] = []
  await movePrefix()
  let shown = 0
  for (let step = 0; step < steps; step++) {
    const action = whole(5)
    if (action === 0 || known.length === 0) {
      const events = Array.from({ length: 10 }, (_, n) => created(known.length + n))
      known.push(...events)
      await write(events, true)
    } else if (action === 1) {
      await movePrefix()
    } else {
      const places = [...new Set(Array.from({ length: 8 }, () => whole(known.length)))].toSorted(
        (a, b) => a - b,
      )
      for (const at of places) known[at] = changed(known[at]!)
      await write(
        places.map((at) => known[at]!),
        false,
      )
    }
    const { kept, counted } = await compareCounts(database.postgres.owner)
    assert.deepEqual(kept, counted, `step ${step}`)
    shown = Math.max(shown, kept.length)
    for (let n = 0; n < 5; n++) await requireSeries()
  }
  assert.ok(shown > 500)
})

it('has the bucket of every rate that SQL has', async () => {
  const powers = Array.from({ length: 53 }, (_, n) => 2 ** n)
  const rates = [0, ...powers.flatMap((power) => [power - 1, power, power + 1, whole(power)])]
  const { rows } = await sql<{ buckets: number[] }>`
    select array_agg(rate_bucket(rate) order by n) as buckets
    from unnest(${rates}::bigint[]) with ordinality r (rate, n)`.execute(database.postgres.owner)
  assert.deepEqual(rates.map(rateBucket), rows[0]!.buckets)
})
