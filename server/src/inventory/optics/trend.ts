// A level that falls from day to day: a laser that ages, a connector that gets dirty. Theil-Sen's slope and Kendall's interval are not
// moved by outliers, unlike a line fitted to all readings, which finds trends in the noise of healthy lanes.
import { type DaySeries, daysBefore, levelNow, medianOf } from './levels.ts'

const windowDays = 21
/** Fewer days do not have a significant slope. */
const daysMin = 14
const slopeMinPerDay = 0.01
const daysLeftMax = 60
/**
 * Quantile of the normal distribution for an interval of 99.9 %. With 99 %, noise that is not independent from day to
 * day gave a finding on 10 of 2,000 healthy lanes in a year, instead of 1; fades are found on the same day.
 */
const z = 3.291

export type Slope = {
  /** Median of the slopes of all pairs of days, per day. */
  readonly perDay: number
  /** Interval of 99.9 % for it. */
  readonly low: number
  readonly high: number
}

/** Returns Theil-Sen's slope with Kendall's interval (Sen 1968); undefined with fewer than 3 days. */
export function slopeOf(series: DaySeries): Slope | undefined {
  const n = series.length
  if (n < 3) return undefined
  const slopes = new Float64Array((n * (n - 1)) / 2)
  let at = 0
  for (const [index, a] of series.entries())
    for (const b of series.slice(index + 1)) slopes[at++] = (b.value - a.value) / (b.day - a.day)
  slopes.sort()
  const width = z * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  const first = Math.max(0, Math.floor((slopes.length - width) / 2) - 1)
  return { perDay: medianOf([...slopes]), low: slopes[first]!, high: slopes[slopes.length - 1 - first]! }
}

export type Trend = {
  readonly perDay: number
  /** Days until the level is reached, if it continues. */
  readonly daysLeft: number
}

/** Returns the trend of the last 21 days if the level falls and reaches the low level within 60 days. */
export function findTrend(series: DaySeries, lowLevel: number | undefined, today: number): Trend | undefined {
  const slope = fallOf(series, today)
  const now = levelNow(series, today)
  if (lowLevel === undefined || !slope || now === undefined) return undefined
  const daysLeft = Math.max(0, Math.round((now - lowLevel) / -slope.perDay))
  if (daysLeft > daysLeftMax) return undefined
  return { perDay: Math.round(slope.perDay * 1_000) / 1_000, daysLeft }
}

/** Returns the slope of the last 21 days if it is certain and steep. */
export function fallOf(series: DaySeries, today: number): Slope | undefined {
  const last = daysBefore(series, today + 1, windowDays)
  if (last.length < daysMin) return undefined
  const slope = slopeOf(last)
  const isFalling = slope !== undefined && slope.high < 0 && slope.perDay < -slopeMinPerDay
  return isFalling && !isStep(last, slope) ? slope : undefined
}

/** Whether two levels with a step between them fit better than the slope. */
function isStep(series: DaySeries, { perDay }: Slope): boolean {
  const rest = series.map(({ day, value }) => value - perDay * day)
  const ofLine = costOf(rest)
  const values = series.map(({ value }) => value)
  return series.some(
    (_, at) =>
      at > 1 && at < series.length - 1 && costOf(values.slice(0, at)) + costOf(values.slice(at)) < ofLine,
  )
}

/** Sum of the distances from the median. */
function costOf(values: readonly number[]): number {
  const median = medianOf(values)
  return values.reduce((sum, value) => sum + Math.abs(value - median), 0)
}
