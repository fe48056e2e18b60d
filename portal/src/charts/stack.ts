// Converts series to the columns of a chart: stacks, bands, the step of a single measurement. Pure.
import type { ChartKind, ChartProps, ChartSeries, ChartValues } from './chart-props.ts'

export const isBars = (kind: ChartKind): boolean => kind === 'bars' || kind === 'stacked-bars'
export const isStacked = (kind: ChartKind): boolean => kind === 'stacked-area' || kind === 'stacked-bars'

/**
 * Returns the running sums from the first series up. A gap counts as 0 if another series has a value at that time;
 * otherwise all have a gap, or no value if none was measured then.
 */
export function stack(lists: readonly ChartValues[]): (number | null | undefined)[][] {
  const length = lists[0]?.length ?? 0
  const sums = Array.from({ length }, () => 0)
  return lists.map((values) =>
    values.map((value, at) => {
      if (lists.every((list) => typeof list[at] !== 'number'))
        return lists.every((list) => list[at] === undefined) ? undefined : null
      return (sums[at]! += value ?? 0)
    }),
  )
}

/** A list of values to draw: the line of a series, or an edge of its band. */
export type Column = {
  readonly series: number
  readonly role: 'line' | 'stack' | 'low' | 'high'
  readonly values: ChartValues
}

/** Returns the columns of a chart: stacks and edges of bands first, so that lines are above them. */
export function columnsOf(kind: ChartKind, series: readonly ChartSeries[]): Column[] {
  if (isStacked(kind)) {
    const indices = [...series.keys()]
    const stacked = indices.filter((at) => !series[at]!.isLine)
    const sums = stack(stacked.map((at) => series[at]!.values))
    return [
      ...stacked.map((at, place): Column => ({ series: at, role: 'stack', values: sums[place]! })),
      ...indices.flatMap((at): Column[] =>
        series[at]!.isLine ? [{ series: at, role: 'line', values: series[at]!.values }] : [],
      ),
    ]
  }
  const edges =
    kind === 'band'
      ? series.flatMap(({ low, high }, at): Column[] =>
          low && high
            ? [
                { series: at, role: 'low', values: low },
                { series: at, role: 'high', values: high },
              ]
            : [],
        )
      : []
  return [...edges, ...series.map(({ values }, at): Column => ({ series: at, role: 'line', values }))]
}

/** Returns the indices of values between two gaps, which no line shows. */
export function isolatedValues(values: ChartValues): number[] {
  const next = (at: number, step: 1 | -1): number => {
    let place = at + step
    while (place in values && values[place] === undefined) place += step
    return place
  }
  const has = (at: number) => typeof values[at] === 'number'
  return values.flatMap((_value, at) => (has(at) && !has(next(at, -1)) && !has(next(at, 1)) ? [at] : []))
}

/** Whether a single measurement is drawn as a step until the end of the range. */
export const isStep = ({ kind, times }: Pick<ChartProps, 'kind' | 'times'>): boolean =>
  times.length === 1 && !isBars(kind) && kind !== 'scatter' && kind !== 'heatmap'

const hourMs = 3_600_000

/** Returns the times to draw: a single measurement has a second one at its end. */
export function drawnTimes({
  kind,
  times,
  range,
  heldUntil,
}: Pick<ChartProps, 'kind' | 'times' | 'range' | 'heldUntil'>): number[] {
  const [only] = times
  if (only === undefined || !isStep({ kind, times })) return [...times]
  const end = heldUntil ?? range?.[1] ?? only + hourMs
  return [only, Math.max(end, only + 1)]
}

/** Returns the length of a bar's period: the shortest interval between two times. */
export function periodOf(times: readonly number[], periodMs?: number): number {
  if (periodMs !== undefined) return periodMs
  let least = Infinity
  for (let at = 1; at < times.length; at++) least = Math.min(least, times[at]! - times[at - 1]!)
  return Number.isFinite(least) && least > 0 ? least : hourMs
}

/** Returns the range to draw. Bars have half a period of room at both ends, so that bars are not cut. */
export function drawnRange(
  props: Pick<ChartProps, 'kind' | 'times' | 'range' | 'periodMs' | 'heldUntil'>,
): [number, number] {
  const times = drawnTimes(props)
  const cell = props.kind === 'heatmap' ? periodOf(props.times, props.periodMs) : 0
  const [from, to] = props.range ?? [times[0] ?? 0, (times.at(-1) ?? 1) + cell]
  if (!isBars(props.kind)) return from < to ? [from, to] : [from - hourMs / 2, to + hourMs / 2]
  const half = periodOf(props.times, props.periodMs) / 2
  // The end of a page's range is the end of the last period, its bar is centered on the start.
  const last = props.times.at(-1) ?? to
  return [Math.min(from, props.times[0] ?? from) - half, props.range && to > last ? to - half : last + half]
}
