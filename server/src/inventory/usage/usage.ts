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
} from '@pharos/contract/usage'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { keptBucketsOf, windowOf, type Buckets } from '../../timeseries/buckets.ts'
import { billingGridMs } from './bucket.ts'
import { findUsage, type CountedColumn, type UsageAnswer, type UsageRow } from './usage.store.ts'

export type UsageDeps = { readonly postgres: Postgres; readonly now: () => Date }

const minuteDays = 30
const dayMs = 86_400_000

/** Throws `not_found` for a port that is not the team's now, and `invalid` for too many buckets. */
export async function getPortUsage(
  { postgres, now: clock }: UsageDeps,
  { actor }: Operation,
  portId: number,
  { start, end, interval, points, timezone, metric, direction }: QueryOf<typeof getPortUsageRoute>,
): Promise<PortUsage> {
  const now = clock()
  const window = { ...windowOf(start, end), interval, points, timezone }
  const { borders, seconds, grain } = keptBucketsOf(window, now, grainOf(now))
  const directions = direction ?? usageDirections
  const metrics = usageMetrics.filter((one) => (metric ?? ['bps']).includes(one))
  // The octets are totals of every answer.
  const wanted = new Set<CountedColumn>([
    'octets_in',
    'octets_out',
    ...metrics.flatMap((one) => directions.map((way) => columnOf(columns[one], way))),
  ])
  const found = await findUsage(postgres, actor.teamId, portId, [...wanted], { borders, seconds: grain })
  if (!found) throw notFound('port')
  return {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: seconds,
    timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
    series: metrics.flatMap((one) =>
      usageDirections
        .filter((way) => directions.includes(way))
        .map((way) => seriesOf(found, borders, one, way)),
    ),
    direction_of: 'customer',
    samples: found.samples,
    missing_samples: Math.max(0, expectedSamples(found, borders, now) - found.samples),
    octets_in: totalOf(found, 'octets', 'in'),
    octets_out: totalOf(found, 'octets', 'out'),
  }
}

/** Minutes of the last 30 days, else 5 minutes. */
const grainOf =
  (now: Date) =>
  ({ borders, seconds }: Buckets): 60 | 300 =>
    borders[0]!.getTime() >= now.getTime() - minuteDays * dayMs && seconds % 300 !== 0 ? 60 : 300

/** Buckets of 5 minutes that are over and belong to the assignment. */
function expectedSamples({ since }: UsageAnswer, borders: readonly Date[], now: Date): number {
  const from = Math.max(borders[0]!.getTime(), since.getTime())
  const until = Math.min(borders.at(-1)!.getTime(), now.getTime())
  return Math.max(0, Math.floor(until / billingGridMs) - Math.ceil(from / billingGridMs))
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

/** The device sends what the customer receives. */
const columnOf = (name: (typeof columns)[UsageMetric], direction: UsageDirection): CountedColumn =>
  `${name}_${direction === 'in' ? 'out' : 'in'}`

const totalOf = ({ figures }: UsageAnswer, name: 'octets', direction: UsageDirection): number | null =>
  figures.find((one) => one.name === columnOf(name, direction))?.total ?? null

function seriesOf(
  { rows, figures }: UsageAnswer,
  borders: readonly Date[],
  metric: UsageMetric,
  direction: UsageDirection,
): Series {
  const column = columnOf(columns[metric], direction)
  const values: (number | null)[] = Array.from({ length: borders.length - 1 }, () => null)
  for (const row of rows) {
    const at = row.bucket - 1
    const lengthMs = borders[row.bucket]!.getTime() - borders[at]!.getTime()
    values[at] = rateOf(row, column, lengthMs)
  }
  const {
    min = null,
    max = null,
    avg = null,
    last = null,
    p95 = null,
  } = figures.find(({ name }) => name === column) ?? {}
  return {
    key: { metric, direction },
    label: labels[metric][direction],
    unit: metric === 'bps' ? 'bps' : 'pps',
    values,
    min,
    max,
    avg: avg === null ? null : Math.round(avg),
    last,
    p95,
  }
}

/** Null for a bucket of which too little is measured: half of it, at most half of 5 minutes. */
function rateOf(row: UsageRow, column: CountedColumn, lengthMs: number): number | null {
  const value = row[column]
  if (value === null || row.covered_ms < Math.min(lengthMs, billingGridMs) / 2) return null
  const perMs = value / row.covered_ms
  return column.startsWith('octets') ? Math.floor(perMs * 8000) : Math.round(perMs * 1_000_000) / 1000
}
