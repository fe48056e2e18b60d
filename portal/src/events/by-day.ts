// Attacks over time by the band of their peak: the request, and the answer as the series of a chart. Pure.
import { peakBands, type PeakBand } from '@pharos/contract/events/event'
import type { Timeseries } from '@pharos/contract/timeseries'
import type { ChartColor, ChartSeries } from '../charts/chart-props.ts'
import { addressTime, type Span, type TimeRange } from '../ui/time-range.ts'
import { momentOf, wallClock } from '../ui/wall-clock.ts'
import { words } from './words.ts'

const hour = 3600
const day = 24 * hour
const dayMs = day * 1000

/** The days of a chart whose page has no time range. */
const daysByDefault = 30

/** Returns the start of the first of so many days, of which today is the last, in the zone. */
export function firstOfDays(days: number, now: number, timeZone: string): string {
  const [year = 0, month = 0, today = 0] = wallClock(new Date(now).toISOString(), timeZone)
    .slice(0, 10)
    .split('-')
    .map(Number)
  const date = new Date(Date.UTC(year, month - 1, today - days + 1)).toISOString().slice(0, 10)
  return momentOf(`${date}T00:00`, timeZone) ?? new Date(now - days * dayMs).toISOString()
}

/** The longest spans of each length of a bar, so that a chart has at most about a hundred of them. */
const lengths: readonly (readonly [spanSeconds: number, barSeconds: number])[] = [
  [2 * hour, 60],
  [8 * hour, 300],
  [3 * day, hour],
  [120 * day, day],
  [800 * day, 7 * day],
]

/** Returns the window and the length of a bar for a span, by default the last 30 days. */
export function bucketsOf({ start, end }: Span, now: number, timeZone: string) {
  const from = start ?? (end === undefined ? firstOfDays(daysByDefault, now, timeZone) : yearBefore(end))
  const until = end === undefined ? now : Date.parse(end)
  const seconds = (until - Date.parse(from)) / 1000
  const interval = lengths.find(([longest]) => seconds <= longest)?.[1] ?? 30 * day
  return { start: from, ...(end === undefined ? {} : { end }), interval, timezone: timeZone }
}

const yearBefore = (end: string): string => new Date(Date.parse(end) - 365 * dayMs).toISOString()

const colors: Record<PeakBand, ChartColor> = {
  below_1g: 'scale-1',
  from_1g: 'scale-2',
  from_10g: 'scale-3',
  from_100g: 'scale-4',
}
const bands = Object.keys(peakBands) as PeakBand[]

/** Returns the bars: a series for each band that has attacks. `total` is 0 without attacks. */
export function barsOf({ timestamps, series }: Timeseries): {
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly total: number
} {
  const shown = bands.flatMap((band): ChartSeries[] => {
    const found = series.find(({ key }) => key['peak_bps'] === band)
    if (!found?.values.some((value) => value !== null && value > 0)) return []
    // Most periods of most bands have no attack: a gap, not a point at 0.
    const values = found.values.map((value) => (value === 0 ? null : value))
    return [{ label: words.byDay.bands[band], unit: 'count', color: colors[band], values }]
  })
  const total = shown.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0)
  return { times: timestamps.map((time) => Date.parse(time)), series: shown, total }
}

/** Returns the time range of a bar, in the format of the address. */
export function rangeOfBar({ timestamps, end }: Timeseries, index: number): TimeRange {
  const from = timestamps[index]!
  return { from: addressTime(Date.parse(from)), to: addressTime(Date.parse(timestamps[index + 1] ?? end)) }
}

/** Returns the change from a count to a later one: `12 % more`. */
export function changeText(before: number, now: number): string {
  if (before === 0) return words.byDay.noneBefore
  const percent = Math.round((Math.abs(now - before) / before) * 100)
  if (now === before || percent === 0) return words.byDay.asBefore
  return now > before ? words.byDay.more(percent) : words.byDay.fewer(percent)
}
