// The usage of a port as the customer sees it: rates over time, and figures of the buckets of 5 minutes.
import type { QueryOf } from '@pharos/contract/route'
import type { Series } from '@pharos/contract/timeseries'
import {
  usageDirections,
  usageMetrics,
  type getPortUsageRoute,
  type PortUsage,
  type UsageDirection,
  type UsageMetric,
} from '@pharos/contract/inventory/usage'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { seriesFiguresOf, keptBucketsOf, windowOf, type Buckets } from '../../timeseries/buckets.ts'
import { intersect, type Period } from './billing-month.ts'
import { billingGridMs, bpsOf, completeMs } from './bucket.ts'
import { compareFlows, type CountedHour, type FlowRecords } from './compare-flows.ts'
import type { Counted, CountedColumn } from './counted.store.ts'
import { listHeldTimes, readUsage } from './usage.store.ts'

/** A bucket with traffic of the port in flows; directions as the customer sees them. */
type FamilyBucket = {
  readonly at: number
  readonly octetsIn: number
  readonly octetsOut: number
  readonly packetsIn: number
  readonly packetsOut: number
}
/** The port to flows, which distinguish address families. Returns an empty list without flows. */
type ReadFamilyUsage = (usage: {
  readonly teamId: number
  readonly portId: number
  readonly family: 'ipv4' | 'ipv6'
  readonly start: Date
  readonly end: Date
  readonly seconds: number
}) => Promise<readonly FamilyBucket[]>

/** The port to the flow records of hours. Returns undefined without any. */
type ReadFlowRecords = (query: {
  readonly teamId: number
  readonly portId: number
  /** Starts, Unix milliseconds, in order. */
  readonly hours: readonly number[]
}) => Promise<FlowRecords | undefined>

export type UsageDeps = {
  readonly postgres: Postgres
  /** Unset: an installation without flows. */
  readonly readFamilyUsage?: ReadFamilyUsage
  readonly readFlowRecords?: ReadFlowRecords
  readonly now: () => Date
}

const minuteDays = 30
const dayMs = 86_400_000

/** Throws `not_found` for a port that never was the team's, and `invalid` for too many buckets. */
export async function getPortUsage(
  {
    postgres,
    readFamilyUsage = async () => [],
    readFlowRecords = async () => undefined,
    now: clock,
  }: UsageDeps,
  { actor }: Operation,
  portId: number,
  {
    start,
    end,
    interval,
    points,
    timezone,
    metric,
    direction,
    family = 'all',
    include,
  }: QueryOf<typeof getPortUsageRoute>,
): Promise<PortUsage> {
  const now = clock()
  const asked = { ...windowOf(start, end), interval, points, timezone }
  const { borders, seconds, grain } = keptBucketsOf(asked, now, grainOf(now))
  const directions = direction ?? usageDirections
  const metrics = usageMetrics.filter((one) => (metric ?? ['bps']).includes(one))
  const wanted = columnsOf(metrics, directions)
  const held = await listHeldTimes(postgres, actor.teamId, portId)
  if (held.length === 0) throw notFound('port')
  const window = { start: borders[0]!, end: borders.at(-1)!, seconds: grain }
  const counted =
    family === 'all'
      ? await readUsage(postgres, actor.teamId, portId, wanted, window)
      : countedOf(
          await readFamilyUsage({
            teamId: actor.teamId,
            portId,
            family,
            seconds: grain,
            ...heldPartOf(window, held, now),
          }),
          wanted,
          grain,
        )
  const fives = grain === 300 ? counted : inFives(counted)
  const measured = fives.at.map((_, at) => at).filter((at) => fives.coveredMs[at]! >= completeMs)
  const samples = measured.length
  const hours = include === undefined || family !== 'all' ? [] : wholeHours(fives, measured)
  const records =
    hours.length === 0
      ? undefined
      : await readFlowRecords({ teamId: actor.teamId, portId, hours: hours.map(({ at }) => at) })
  return {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: seconds,
    timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
    series: metrics.flatMap((one) =>
      usageDirections
        .filter((way) => directions.includes(way))
        .map((way) => seriesOf({ counted, fives, measured }, borders, one, way)),
    ),
    direction_of: 'customer',
    samples,
    missing_samples: Math.max(0, expectedSamples(held, borders, now) - samples),
    octets_in: totalOf(fives, measured, 'in'),
    octets_out: totalOf(fives, measured, 'out'),
    ...(include === undefined ? {} : { flow_records: records ? compareFlows(hours, records) : null }),
  }
}

const hourMs = 3_600_000

/** The hours of which every bucket is measured. */
function wholeHours(fives: Counted, measured: readonly number[]): CountedHour[] {
  const groups = Map.groupBy(measured, (index) => Math.floor(fives.at[index]! / hourMs) * hourMs)
  return [...groups]
    .filter(([, part]) => part.length === hourMs / billingGridMs)
    .map(([at, part]) => ({
      at,
      octetsIn: totalOf(fives, part, 'in'),
      octetsOut: totalOf(fives, part, 'out'),
    }))
}

/** The time of the window that is over and in which the port was assigned. */
const heldPartOf = (
  window: { readonly start: Date; readonly end: Date },
  held: readonly Period[],
  now: Date,
) => ({
  start: new Date(Math.max(window.start.getTime(), held[0]!.startMs)),
  end: new Date(Math.min(window.end.getTime(), now.getTime(), held.at(-1)!.endMs)),
})

/** In the device's direction: the customer receives what it sends. Errors and discards have no family. */
function countedOf(
  buckets: readonly FamilyBucket[],
  names: readonly CountedColumn[],
  seconds: number,
): Counted {
  const values: Partial<Record<CountedColumn, (bucket: FamilyBucket) => number>> = {
    octets_in: ({ octetsOut }) => octetsOut,
    octets_out: ({ octetsIn }) => octetsIn,
    packets_in: ({ packetsOut }) => packetsOut,
    packets_out: ({ packetsIn }) => packetsIn,
  }
  return {
    at: buckets.map(({ at }) => at),
    coveredMs: buckets.map(() => seconds * 1000),
    values: Object.fromEntries(
      names.map((name) => [name, buckets.map((bucket) => values[name]?.(bucket) ?? null)]),
    ),
  }
}

/** Minutes of the last 30 days, else 5 minutes. */
const grainOf =
  (now: Date) =>
  ({ borders, seconds }: Buckets): 60 | 300 =>
    borders[0]!.getTime() >= now.getTime() - minuteDays * dayMs && seconds % 300 !== 0 ? 60 : 300

/** Buckets of 5 minutes that are over and belong to the assignments. */
function expectedSamples(held: readonly Period[], borders: readonly Date[], now: Date): number {
  const window = { startMs: borders[0]!.getTime(), endMs: Math.min(borders.at(-1)!.getTime(), now.getTime()) }
  const parts = held.flatMap((time) => intersect(window, time) ?? [])
  return parts.reduce(
    (sum, { startMs, endMs }) =>
      sum + Math.max(0, Math.floor(endMs / billingGridMs) - Math.ceil(startMs / billingGridMs)),
    0,
  )
}

const columns: Readonly<Record<UsageMetric, 'octets' | 'packets' | 'errors' | 'discards'>> = {
  bps: 'octets',
  pps: 'packets',
  errors: 'errors',
  discards: 'discards',
}
const labels: Readonly<Record<UsageMetric, Readonly<Record<UsageDirection, string>>>> = {
  bps: { in: 'In', out: 'Out' },
  pps: { in: 'Packets in', out: 'Packets out' },
  errors: { in: 'Errors in', out: 'Errors out' },
  discards: { in: 'Discards in', out: 'Discards out' },
}

/** The customer receives what the device sends. */
const columnOf = (name: (typeof columns)[UsageMetric], direction: UsageDirection): CountedColumn =>
  `${name}_${direction === 'in' ? 'out' : 'in'}`

/** The octets are totals of every answer. */
const columnsOf = (
  metrics: readonly UsageMetric[],
  directions: readonly UsageDirection[],
): CountedColumn[] => [
  ...new Set<CountedColumn>([
    'octets_in',
    'octets_out',
    ...metrics.flatMap((one) => directions.map((way) => columnOf(columns[one], way))),
  ]),
]

/** Null without a sample. */
function totalOf({ values }: Counted, measured: readonly number[], direction: UsageDirection): number | null {
  const octets = values[columnOf('octets', direction)]!
  let sum: number | null = null
  for (const at of measured) {
    const value = octets[at]!
    if (value !== null) sum = (sum ?? 0) + value
  }
  return sum
}

/** Minutes as buckets of 5 minutes. */
function inFives({ at, coveredMs, values }: Counted): Counted {
  const slots = Map.groupBy(at.keys(), (index) => Math.floor(at[index]! / billingGridMs))
  const sumsOf = (column: readonly (number | null)[]) =>
    Array.from(slots.values(), (parts) => sumOf(parts.map((index) => column[index]!)))
  return {
    at: Array.from(slots.keys(), (slot) => slot * billingGridMs),
    coveredMs: sumsOf(coveredMs) as number[],
    values: Object.fromEntries(Object.entries(values).map(([name, column]) => [name, sumsOf(column)])),
  }
}

/** Returns the sum of the known parts; null if all are unknown. */
const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.reduce((sum, part) => (part === null ? sum : (sum ?? 0) + part), null)

/** `measured`: the positions of the samples in `fives`. */
type Read = { readonly counted: Counted; readonly fives: Counted; readonly measured: readonly number[] }

function seriesOf(
  { counted, fives, measured }: Read,
  borders: readonly Date[],
  metric: UsageMetric,
  direction: UsageDirection,
): Series {
  const column = columnOf(columns[metric], direction)
  const rate = metric === 'bps' ? bpsOf : perSecond
  const figures = seriesFiguresOf(
    measured.map((at) => {
      const value = fives.values[column]![at]!
      return value === null ? null : rate(value, fives.coveredMs[at]!)
    }),
  )
  return {
    key: { metric, direction },
    label: labels[metric][direction],
    unit: metric === 'bps' ? 'bps' : 'pps',
    values: pointsOf(counted, column, borders, rate),
    ...figures,
    avg: figures.avg === null ? null : Math.round(figures.avg),
  }
}

const perSecond = (value: number, coveredMs: number): number =>
  Math.round((value / coveredMs) * 1_000_000) / 1000

/** One value between two borders. Null if too little is measured: less than half of it, at most half of 5 minutes. */
function pointsOf(
  { at, coveredMs, values }: Counted,
  column: CountedColumn,
  borders: readonly Date[],
  rate: (value: number, coveredMs: number) => number,
): (number | null)[] {
  const known = values[column]!
  let next = 0
  return borders.slice(0, -1).map((border, index) => {
    const endMs = borders[index + 1]!.getTime()
    let covered = 0
    let sum: number | null = null
    for (; next < at.length && at[next]! < endMs; next++) {
      covered += coveredMs[next]!
      const value = known[next]!
      if (value !== null) sum = (sum ?? 0) + value
    }
    const lengthMs = endMs - border.getTime()
    return sum === null || covered < Math.min(lengthMs, billingGridMs) / 2 ? null : rate(sum, covered)
  })
}
