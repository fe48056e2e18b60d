// The time series of events from the rollup of quarters, hours and blocks of six hours. Pure; event-timeseries.store.ts
// reads events one by one if the rollup has no answer.
import type { EventMetric } from '@pharos/contract/events/event'
import type { EventSeriesQuery, EventSeriesRow } from './series-query.ts'

const quarterMs = 900_000

/** Lengths of rows, in quarters of an hour: blocks of six hours, hours, and quarters. */
const lengths = [24, 4, 1] as const

/** Rows of one length, of one bucket; `bucket` 1 is the first. Times are quarters of an hour since 1970. */
export type RollupRange = {
  readonly length: (typeof lengths)[number]
  readonly from: number
  readonly until: number
  readonly bucket: number
}

/**
 * Whether the rollup answers it: its rows are of events, by class, and begin at quarters of an hour, as the hours of every time zone do. Bytes are
 * in the details of events.
 */
export function isInRollup({ of, filter, borders, metric, groupBy }: EventSeriesQuery): boolean {
  const { flags, status, sources, ongoing, bps, pps, network, description, search, incident } = filter
  const others = [flags, status, sources, ongoing, bps, pps, network, description, search, incident]
  return (
    of === 'events' &&
    metric !== 'sum_bytes' &&
    (groupBy === undefined || groupBy === 'classification_key') &&
    others.every((value) => value === null) &&
    borders.every((at) => at.getTime() % quarterMs === 0)
  )
}

/**
 * Returns the ranges that make up the buckets: the longest rows that fit, with shorter rows before the first and after
 * the last of them.
 */
export function rollupRanges(borders: readonly Date[]): RollupRange[] {
  const at = borders.map((border) => border.getTime() / quarterMs)
  return at.slice(1).flatMap((until, index) => rangesBetween(at[index]!, until, index + 1, lengths))
}

function rangesBetween(
  start: number,
  end: number,
  bucket: number,
  [length, ...shorter]: readonly RollupRange['length'][],
): RollupRange[] {
  if (length === undefined || start >= end) return []
  const from = Math.ceil(start / length) * length
  const until = Math.floor(end / length) * length
  if (from >= until) return rangesBetween(start, end, bucket, shorter)
  return [
    ...rangesBetween(start, from, bucket, shorter),
    { length, from, until, bucket },
    ...rangesBetween(until, end, bucket, shorter),
  ]
}

/**
 * Rollup values of a group and bucket; in bucket 0, `started` counts the events that were ongoing when the first bucket
 * began. For events whose peaks are not in the rollup: the maximum from `bucket` to `last`.
 */
export type RollupRow = {
  readonly key: string | null
  readonly bucket: number
  readonly last: number
  readonly started: number
  readonly ended: number
  readonly value: number | null
}

/** Returns the values of each group and bucket that has events. */
export function rollupSeries(
  rows: readonly RollupRow[],
  buckets: number,
  metric: EventMetric,
): EventSeriesRow[] {
  return [...Map.groupBy(rows, ({ key }) => key)].flatMap(([key, ofGroup]) => {
    const values = metric === 'count' ? countsOf(ofGroup, buckets) : maximaOf(ofGroup, buckets)
    return values.flatMap((value, at) => (value ? [{ key, bucket: at + 1, value: value.of }] : []))
  })
}

type Value = { readonly of: number } | null

/** Counts the events that started before the end of the bucket, without events that ended before its start. */
function countsOf(rows: readonly RollupRow[], buckets: number): Value[] {
  const [started, ended] = [new Float64Array(buckets + 1), new Float64Array(buckets + 1)]
  for (const row of rows) {
    started[row.bucket]! += row.started
    ended[row.bucket]! += row.ended
  }
  let ongoing = started[0]!
  return Array.from({ length: buckets }, (_, at) => {
    const count = ongoing + started[at + 1]!
    ongoing = count - ended[at + 1]!
    return count > 0 ? { of: count } : null
  })
}

function maximaOf(rows: readonly RollupRow[], buckets: number): Value[] {
  const maxima = Array.from<number | null>({ length: buckets }).fill(null)
  for (const { bucket, last, value } of rows) {
    if (value === null) continue
    for (let at = Math.max(bucket, 1); at <= last; at++) maxima[at - 1] = Math.max(maxima[at - 1] ?? 0, value)
  }
  return maxima.map((of) => (of === null ? null : { of }))
}
