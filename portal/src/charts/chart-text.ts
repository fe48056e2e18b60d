// A chart as text: its description, the values at a point, the rows of its table. Pure.
import type { ChartColor, ChartProps, ChartValues } from './chart-props.ts'
import { isStacked } from './stack.ts'
import { formatValue } from './units.ts'
import { words } from './words.ts'

type TimeText = (time: number) => string

export type Reading = {
  readonly label: string
  readonly text: string
  readonly color: ChartColor | undefined
  readonly isDashed: boolean
}

/** Returns the highest value, or null. */
export const highestOf = (values: ChartValues): number | null =>
  values.reduce<number | null>(
    (best, value) => (typeof value === 'number' && (best === null || value > best) ? value : best),
    null,
  )

type Read = Pick<ChartProps, 'kind' | 'series' | 'times'>

/** Returns the values at an index: of a stack from the top down, with their total, then the lines over it; for single points only the series with a value. */
export function readingsAt({ kind, series, times }: Read, index: number): Reading[] {
  const readingsOf = (list: Read['series']) =>
    list.flatMap(({ label, unit, color, values, low, high, isDashed = false }): Reading[] => {
      const value = valueNear(values, times, index)
      if (value === null) return kind === 'scatter' ? [] : [{ label, color, isDashed, text: words.noValue }]
      const [from, to] = [low?.[index], high?.[index]]
      const isRange = kind === 'band' && typeof from === 'number' && typeof to === 'number'
      const text = formatValue(value, unit)
      const band = isRange ? ` (${words.lowToHigh(formatValue(from, unit), formatValue(to, unit))})` : ''
      return [{ label, color, isDashed, text: text + band }]
    })
  const stacked = isStacked(kind) ? series.filter(({ isLine }) => !isLine) : []
  const [first] = stacked
  if (stacked.length < 2 || first === undefined) return readingsOf(series)
  const known = stacked.map(({ values }) => valueNear(values, times, index)).filter((value) => value !== null)
  const sum = known.reduce((sum, value) => sum + value, 0)
  const text = known.length === 0 ? words.noValue : formatValue(sum, first.unit)
  const total = { label: words.total, text, color: undefined, isDashed: false }
  return [...readingsOf(stacked).toReversed(), total, ...readingsOf(series.filter(({ isLine }) => isLine))]
}

/** Returns the value, or of a series that was measured at other times the nearest one; null in a gap. */
function valueNear(values: ChartValues, times: readonly number[], index: number): number | null {
  const value = values[index]
  if (value !== undefined) return value
  const at = times[index]!
  const before = values.findLastIndex((one, place) => place < index && one !== undefined)
  const after = values.findIndex((one, place) => place > index && one !== undefined)
  // Beyond its ends a series is not known.
  if (before < 0 || after < 0) return null
  return values[at - times[before]! <= times[after]! - at ? before : after] ?? null
}

/** Returns a sentence about the point, for screen readers. */
export function sentenceAt(props: ChartProps, index: number, timeText: TimeText): string {
  const values = readingsAt(props, index).map(({ label, text }) => `${label} ${text}`)
  return [
    timeText(props.times[index]!),
    ...values,
    ...(props.pointText ? [props.pointText(index)] : []),
  ].join(', ')
}

/** Returns the chart in words: how many values, and the highest of each series. */
export function descriptionOf(
  { label, times, series, marks = [], thresholds = [] }: ChartProps,
  timeText: TimeText,
): string {
  const highs = series.flatMap(({ label: name, unit, values }) => {
    const highest = highestOf(values)
    if (highest === null) return []
    return [words.maxAt(name, formatValue(highest, unit), timeText(times[values.indexOf(highest)]!))]
  })
  const events = marks.map(({ at, label: what }) => words.markAt(what, timeText(at)))
  const limits = thresholds.map((one) => `${one.label} ${formatValue(one.value, one.unit)}`)
  return [label, words.values(times.length), ...highs, ...limits, ...events].join('. ')
}

export type TableRow = {
  readonly index: number
  readonly time: string
  readonly cells: readonly string[]
  readonly note: string | undefined
  readonly href: string | undefined
}

/** Returns the rows of the table, in order of time. */
export function tableRows({ times, series, pointText, hrefOf }: ChartProps, timeText: TimeText): TableRow[] {
  return times.map((time, index) => ({
    index,
    time: timeText(time),
    cells: series.map(({ values, unit }) => {
      const value = values[index] ?? null
      return value === null ? '–' : formatValue(value, unit)
    }),
    note: pointText?.(index),
    href: hrefOf?.(index),
  }))
}

/** Returns the index of the next time with a value in that direction, or the same index. */
export function nextIndex(
  { times, series }: Pick<ChartProps, 'times' | 'series'>,
  from: number,
  step: 1 | -1,
): number {
  for (let at = from + step; at >= 0 && at < times.length; at += step) {
    if (series.some(({ values }) => typeof values[at] === 'number')) return at
  }
  return Math.min(Math.max(from, 0), times.length - 1)
}
