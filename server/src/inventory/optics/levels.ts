// Daily values of one metric of a lane: the medians that the rules of early warning read. Days without readings are absent.

export type DayValue = {
  /** Days since 1970 in UTC. */
  readonly day: number
  /** dBm, or mA for the bias current. */
  readonly value: number
}

/** One module's values in ascending order of days: a module with another serial number starts a new series. */
export type DaySeries = readonly DayValue[]

/** NaN without values. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Returns the values of the days before `end`, that day excluded, from `days` earlier on. */
export function daysBefore(series: DaySeries, end: number, days: number): DaySeries {
  return series.filter(({ day }) => day < end && day >= end - days)
}

/** Returns the median of the last 3 days up to `today`; undefined without values. */
export function levelNow(series: DaySeries, today: number): number | undefined {
  const last = daysBefore(series, today + 1, 3)
  return last.length === 0 ? undefined : medianOf(last.map(({ value }) => value))
}
