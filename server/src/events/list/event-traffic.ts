// The traffic towards the target of an event over time, the part that the team's shield rules dropped, and the part
// that passed.
import type { TimelineSample } from '@pharos/contract/events/event'
import {
  eventTrafficParts,
  type EventTraffic,
  type EventTrafficPart,
  type getEventTrafficRoute,
} from '@pharos/contract/events/event-traffic'
import type { EventTrafficMetric } from '@pharos/contract/flow/traffic-parts'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Operation } from '../../operation/operation.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { notFound } from '../../runtime/error.ts'
import { seriesFiguresOf, keptBucketsOf, windowOf, type Buckets } from '../../timeseries/buckets.ts'
import { findTrafficView, listFilteredPrefixes, type TrafficView } from './event-traffic.store.ts'
import { asFlowFailure } from '../../flow/flow-failure.ts'
import { overlapCondition, withinCondition } from '../../flow/flow-key.ts'
import { bucketOf, bucketsParams, during, knownBucketsStatement, queryLimits } from '../../flow/flow-query.ts'
import type { FlowStore, Param } from '../../flow/flow-store.ts'

export type EventTrafficDeps = {
  readonly postgres: Postgres
  readonly flowStore: FlowStore
  readonly listCounting: ListCounting
  readonly now: () => Date
}

/** Returns for each scrubber that gets a list of a given prefix whether it counts packets. */
export type ListCounting = (prefixes: readonly Prefix[]) => Promise<readonly boolean[]>

type Query = QueryOf<typeof getEventTrafficRoute>
type Values = readonly (number | null)[]

const marginMs = 15 * 60_000
const stepSeconds = 60
/** Minimum part of the current bucket for a rate. */
const rateMsMin = 10_000

/** Throws `not_found` unless the event concerns the team, `invalid` for unusable buckets, and `query_too_expensive`. */
export async function getEventTraffic(
  { postgres, flowStore, listCounting, now: clock }: EventTrafficDeps,
  { actor: { teamId } }: Pick<Operation, 'actor'>,
  eventId: string,
  { metric, ...query }: Query,
): Promise<EventTraffic> {
  const now = clock()
  const view = await findTrafficView(postgres, teamId, eventId)
  if (!view) throw notFound('event')
  const buckets = trafficBuckets(windowFor(view, query, now), now)
  const { networks, timeline } = view
  const sampled = () => sampledRates(timeline, metric, buckets.borders)
  const { hasFlows, ...traffic } = await readTrafficParts(
    { postgres, flowStore, listCounting },
    { teamId, networks, metric, buckets, now, sampled },
  )
  return { ...traffic, source: hasFlows ? 'flows' : 'detector' }
}

/** Drops are kept by minute, and exporters report a flow about once a minute. */
export const trafficBuckets = (window: Parameters<typeof keptBucketsOf>[0], now: Date): Buckets =>
  keptBucketsOf(window, now, () => stepSeconds)

type TrafficOf = {
  readonly teamId: number
  readonly networks: readonly Prefix[]
  readonly metric: EventTrafficMetric
  readonly buckets: Buckets
  readonly now: Date
  /** The total of each bucket if there are no flows. */
  readonly sampled: () => Values
}

/** Returns the three series of the networks, and whether `total` is from flows. */
export async function readTrafficParts(
  { postgres, flowStore, listCounting }: Omit<EventTrafficDeps, 'now'>,
  { teamId, networks, metric, buckets, now, sampled }: TrafficOf,
): Promise<Omit<EventTraffic, 'source'> & { readonly hasFlows: boolean }> {
  const stored = await readStored(flowStore, teamId, networks, buckets, metric)
  const { borders, seconds } = buckets
  const times = borders.slice(0, -1)
  const hasFlows = stored !== undefined && stored.total.size > 0
  const rate = (sum: number, bucket: number) => rateOf(sum, metric, borders, bucket, now)
  const total = hasFlows
    ? times.map((_, at) => (stored.known.has(at) ? rate(stored.total.get(at) ?? 0, at) : null))
    : sampled()
  const counting = await listCounting(await listFilteredPrefixes(postgres, teamId, networks))
  const isCounted = counting.length === 0 || counting.includes(true)
  const dropped = times.map((_, at) => (stored && isCounted ? rate(stored.dropped.get(at) ?? 0, at) : null))
  const passed = total.map((all, at) => {
    const less = dropped[at] ?? null
    return all === null || less === null ? null : Math.max(all - less, 0)
  })
  const values: Readonly<Record<EventTrafficPart, Values>> = { total, dropped, passed }
  return {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: seconds,
    timestamps: times.map((at) => at.toISOString()),
    notes: counting.includes(false) ? ['uncounted'] : [],
    hasFlows,
    series: eventTrafficParts.map((part) => ({
      key: { part },
      label: labels[part],
      unit: metric,
      values: [...values[part]],
      ...seriesFiguresOf(values[part]),
    })),
  }
}

const labels: Readonly<Record<EventTrafficPart, string>> = {
  total: 'Total',
  dropped: 'Dropped',
  passed: 'Passed',
}

/** The event with a margin; a time that is given moves the other one if it would be on its wrong side. */
function windowFor(
  { start, end }: TrafficView,
  { start: wantedStart, end: wantedEnd, interval, points, timezone }: Omit<Query, 'metric'>,
  now: Date,
) {
  const wanted = windowOf(wantedStart, wantedEnd)
  const from = start.getTime() - marginMs
  const until = Math.max(Math.min((end ?? now).getTime() + marginMs, now.getTime()), start.getTime())
  return {
    start: wanted.start ?? new Date(Math.min(from, wanted.end?.getTime() ?? from)),
    end: wanted.end ?? new Date(Math.max(until, wanted.start?.getTime() ?? until)),
    interval,
    points,
    timezone,
  }
}

/** Octets or packets by the index of the bucket. */
type Stored = {
  readonly total: ReadonlyMap<number, number>
  readonly dropped: ReadonlyMap<number, number>
  /** Buckets in which any flow of the team was received. */
  readonly known: ReadonlySet<number>
}

/** Undefined if there is no store that answers. */
async function readStored(
  flowStore: FlowStore,
  teamId: number,
  networks: readonly Prefix[],
  { borders, seconds }: Buckets,
  metric: EventTrafficMetric,
): Promise<Stored | undefined> {
  const amount = metric === 'bps' ? 'bytes' : 'packets'
  const known = knownBucketsStatement(
    { teamId },
    { family: 'flows', step: 60, isCut: false },
    { borders, seconds },
  )
  const sums = (
    table: string,
    value: string,
    condition: (network: Prefix, bind: Bind) => string,
    fixed: string,
  ) => {
    const bucket = bucketOf(borders, seconds, '')
    const params: Record<string, Param> = { ...bucket.params, ...bucketsParams(borders, ''), team: teamId }
    let bound = 0
    const bind: Bind = (type, one) => {
      const name = `n${bound++}`
      params[name] = one
      return `{${name}:${type}}`
    }
    const within = networks.map((network) => `(${condition(network, bind)})`).join(' or ') || 'false'
    const sql =
      `select ${bucket.sql} as bucket, sum(${value}) as value from ${table} where team_id = {team:UInt32} and ` +
      `${during('from', 'until')} and ${fixed}(${within}) group by bucket`
    return flowStore.query<{ bucket: number; value: number }>(sql, params, queryLimits)
  }
  try {
    const seen = await flowStore.query<{ bucket: number }>(known.sql, known.params, known.limits)
    const total = await sums(
      'flows',
      `${amount} * greatest(sampling_rate, 1)`,
      (network, bind) => withinCondition('dst_addr', network, bind),
      "direction in ('in', 'internal') and ",
    )
    const dropped = await sums('shield_hits', `dropped_${amount}`, overlapCondition, '')
    const mapOf = (rows: typeof total) => new Map(rows.map(({ bucket, value }) => [bucket, value]))
    return {
      total: mapOf(total),
      dropped: mapOf(dropped),
      known: new Set([...seen, ...total].map(({ bucket }) => bucket)),
    }
  } catch (error) {
    if (error instanceof DriverError && error.kind !== 'refused') return undefined
    throw asFlowFailure(error)
  }
}

type Bind = (type: string, value: Param) => string

/** Over the time of the bucket, of the current one over its time until now. */
function rateOf(
  sum: number,
  metric: EventTrafficMetric,
  borders: readonly Date[],
  bucket: number,
  now: Date,
): number | null {
  const [from, until] = [borders[bucket]!.getTime(), borders[bucket + 1]!.getTime()]
  const passedMs = Math.min(until, now.getTime()) - from
  if (passedMs < rateMsMin) return null
  return Math.round((sum * (metric === 'bps' ? 8 : 1) * 1000) / passedMs)
}

/** The highest sample of each bucket. */
function sampledRates(
  timeline: readonly TimelineSample[],
  metric: EventTrafficMetric,
  borders: readonly Date[],
): (number | null)[] {
  const values: (number | null)[] = borders.slice(0, -1).map(() => null)
  for (const { at, [metric]: value } of timeline) {
    const ms = Date.parse(at)
    const bucket = borders.findLastIndex((border) => border.getTime() <= ms)
    if (value !== undefined && bucket in values) values[bucket] = Math.max(values[bucket] ?? 0, value)
  }
  return values
}
