// The buckets of a time series, and the figures of a series. Pure.
import { selectSmallest } from './select.ts'
import { timeseriesPointsMax, type Series } from '@pharos/contract/timeseries'
import { Temporal } from 'temporal-polyfill'
import { invalid } from '../runtime/error.ts'
import { firstTime, isTimezone, lastTime, parseTime } from '../text/time.ts'

export type BucketQuery = {
  readonly start: Date
  readonly end: Date
  /** Seconds; a multiple of a day means days of the time zone. */
  readonly interval: number
  /** IANA name. */
  readonly timezone: string
}

const daySeconds = 86_400
const usualSeconds = [
  1,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1_800,
  3_600,
  7_200,
  10_800,
  21_600,
  43_200,
  daySeconds,
  2 * daySeconds,
  7 * daySeconds,
  14 * daySeconds,
  28 * daySeconds,
  91 * daySeconds,
  365 * daySeconds,
]

const dayMs = daySeconds * 1000
const defaultPoints = 300

/** Place of the parameters in the request, for errors. */
export type RequestPart = 'query' | 'body'

/** The parameters of a time series, as the contract has parsed them. */
export type BucketParameters = {
  readonly start: Date | null
  readonly end: Date | null
  readonly interval?: number | undefined
  readonly points?: number | undefined
  readonly timezone?: string | undefined
}

/** Buckets around the wanted window: their borders, one more than there are buckets, and the seconds of one. */
export type Buckets = {
  readonly start: Date
  readonly end: Date
  readonly borders: readonly Date[]
  readonly seconds: number
}

/**
 * Returns the buckets of a request, by default of the last 24 hours. Throws `invalid` for an unknown time zone, for too
 * many buckets, and if both `interval` and `points` are given.
 */
export function bucketsOf(
  { start: from, end: until, interval, points, timezone = 'UTC' }: BucketParameters,
  now: Date,
  part: RequestPart = 'query',
): Buckets {
  const end = until ?? (from && from > now ? from : now)
  const start = from ?? new Date(end.getTime() - dayMs)
  if (interval !== undefined && points !== undefined) throw invalid([part, 'points'], 'bothBuckets')
  if (!isTimezone(timezone)) throw invalid([part, 'timezone'], 'timezone')
  const seconds = interval ?? intervalFor(start, end, points ?? defaultPoints)
  const borders = bordersOf({ start, end, interval: seconds, timezone }, timeseriesPointsMax + 2)
  if (!borders) throw invalid([part, 'interval'], 'tooManyBuckets', { max: timeseriesPointsMax })
  return { start, end, borders, seconds }
}

/** Returns the times of a request; null if missing. Throws `invalid` if the end is before the start. */
export function windowOf(
  startText: string | undefined,
  endText: string | undefined,
  part: RequestPart = 'query',
): { readonly start: Date | null; readonly end: Date | null } {
  const [start, end] = [startText, endText].map((text) => (text === undefined ? null : parseTime(text)!))
  if (start && end && end < start) throw invalid([part, 'end'], 'beforeStart', { start: startText })
  return { start: start ?? null, end: end ?? null }
}

/** Like `bucketsOf`, with the interval rounded up to a multiple of the stored seconds in that window. */
export function keptBucketsOf<Grain extends number>(
  window: BucketParameters,
  now: Date,
  keptSeconds: (wanted: Buckets) => Grain,
  part: RequestPart = 'query',
): Buckets & { readonly grain: Grain } {
  const wanted = bucketsOf(window, now, part)
  const grain = keptSeconds(wanted)
  const interval = Math.ceil(wanted.seconds / grain) * grain
  if (interval === wanted.seconds) return { ...wanted, grain }
  return { ...bucketsOf({ ...window, interval, points: undefined }, now, part), grain }
}

/** Returns the shortest usual interval that needs at most that many buckets. */
export function intervalFor(start: Date, end: Date, points: number): number {
  const least = (end.getTime() - start.getTime()) / 1000 / points
  return usualSeconds.find((seconds) => seconds >= least) ?? usualSeconds.at(-1)!
}

/**
 * Returns the borders of the buckets around the window, one more than there are buckets; undefined if there were more
 * than `max` buckets. Buckets below a day begin at multiples of the interval after midnight of the first day; buckets
 * of days begin at midnights, which are 23 to 25 hours apart when clocks change.
 */
export function bordersOf({ start, end, interval, timezone }: BucketQuery, max: number): Date[] | undefined {
  if ((end.getTime() - start.getTime()) / 1000 / interval > max) return undefined
  const midnight = Temporal.Instant.fromEpochMilliseconds(start.getTime())
    .toZonedDateTimeISO(timezone)
    .startOfDay()
  const isDays = interval % daySeconds === 0
  const first = midnight.epochMilliseconds
  const skipped = isDays ? 0 : Math.floor((start.getTime() - first) / 1000 / interval)
  const at = (index: number): Date => {
    const ms = isDays
      ? midnight.add({ days: (index * interval) / daySeconds }).startOfDay().epochMilliseconds
      : first + (skipped + index) * interval * 1000
    return new Date(Math.min(Math.max(ms, firstTime.getTime()), lastTime.getTime()))
  }
  const borders = [at(0)]
  for (let index = 1; borders.at(-1)! < end || borders.length < 2; index++) {
    if (borders.length > max + 1) return undefined
    const next = at(index)
    // A day that a time zone skips begins with the next one: 30 December 2011 in Apia.
    if (next > borders.at(-1)!) borders.push(next)
  }
  return borders
}

/** Returns the figures of a series; null for one without values. */
export function seriesFiguresOf(
  values: readonly (number | null)[],
): Pick<Series, 'min' | 'max' | 'avg' | 'last' | 'p95'> {
  const known = new Float64Array(values.length)
  let count = 0
  let [min, max, sum] = [Infinity, -Infinity, 0]
  for (const value of values) {
    if (value === null) continue
    known[count++] = value
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  if (count === 0) return { min: null, max: null, avg: null, last: null, p95: null }
  const last = known[count - 1]!
  return {
    min,
    max,
    avg: sum / count,
    last,
    p95: selectSmallest(known.subarray(0, count), Math.ceil(count * 0.95) - 1),
  }
}
