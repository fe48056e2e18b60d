// The options of uPlot for a chart: scales whose ends are ticks, and how each kind is drawn.
import UPlot from 'uplot'
import { drawCells, rowLabels } from './chart-cells.ts'
import { drawMarkRanges, drawMarks, drawThresholds } from './chart-marks.ts'
import type { ChartMark, ChartProps } from './chart-props.ts'
import { fade, type Inks } from './inks.ts'
import {
  columnsOf,
  drawnRange,
  drawnTimes,
  isBars,
  isolatedValues,
  isStacked,
  isStep,
  periodOf,
  type Column,
} from './stack.ts'
import { axisTimes } from './time-axis.ts'
import { logAxis, tickLabels, valueAxis, type Unit, type ValueAxis } from './units.ts'

/** Up to this number of values, each has a point. */
const pointsMax = 48
const dragMin = 6
const markRoom = 20

export type Drawing = {
  /** Returns the current props. */
  readonly now: () => ChartProps & { readonly height: number }
  readonly inks: Inks
  readonly timeZone: string
  readonly width: number
  readonly onCursor: (plot: UPlot) => void
  readonly onDrag: (from: number, to: number) => void
  /** Called with the marks whose labels have no room. */
  readonly onUnlabelled: (marks: readonly ChartMark[]) => void
}

/** Returns the values in the order of uPlot's series. A single measurement is repeated at its end. */
export function dataOf(props: ChartProps): UPlot.AlignedData {
  const repeat = isStep(props) ? 2 : 1
  return [
    drawnTimes(props),
    ...columnsOf(props.kind, props.series).map(({ values }) =>
      repeat === 2 ? [values[0] ?? null, values[0] ?? null] : [...values],
    ),
  ]
}

/** Returns uPlot's options. Values, marks, thresholds and the range are read again with every `setData`. */
export function optionsOf(drawing: Drawing): UPlot.Options {
  const { now, inks, timeZone, width, onCursor, onDrag, onUnlabelled } = drawing
  const { series, kind, height, isLog = false } = now()
  const isHeatmap = kind === 'heatmap'
  const units = [...new Set(series.map(({ unit }) => unit))]
  const columns = columnsOf(kind, series)
  const axes = new Map<string, ValueAxis>()
  const axis = { stroke: inks.axis, font: inks.font, ticks: { show: false } }
  const labelsOf = (values: readonly string[] | null, plot: UPlot) => sizeOf(values ?? [], plot, inks)
  return {
    width,
    height,
    // Milliseconds, as everywhere else.
    ms: 1,
    tzDate: (time) => UPlot.tzDate(new Date(time), timeZone),
    // At the right, half a label: the last one is not cut.
    // Above, a row for the labels of marks.
    padding: [drawnMarks(now()).length > 0 ? markRoom : 10, units.length > 1 ? 8 : 26, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: false, dist: dragMin },
      x: !isBars(kind) && !isHeatmap,
      y: false,
      ...(kind === 'scatter' ? { dataIdx: nearestPoint } : {}),
      points:
        isBars(kind) || isHeatmap
          ? { show: false }
          : {
              size: (_plot, at) =>
                columns[at - 1]?.role === 'low' || columns[at - 1]?.role === 'high'
                  ? 0
                  : kind === 'scatter'
                    ? 13
                    : 9,
              width: 2,
              stroke: () => inks.surface,
              fill: (_plot, at) => inks.of(series[columns[at - 1]!.series]!.color),
            },
    },
    scales: {
      x: { time: true, range: () => drawnRange(now()) },
      ...Object.fromEntries(
        units.map((unit, at): [string, UPlot.Scale] => [
          unit,
          {
            ...(isLog ? { distr: 3 as const } : {}),
            // The first row is the highest.
            ...(isHeatmap ? { dir: -1 as const } : {}),
            range: (plot, low, high) => {
              if (isHeatmap) return [0, series.length]
              const made = axisOf(now(), unit, low, high, plot.height, at)
              axes.set(unit, made)
              return [made.min, made.max]
            },
          },
        ]),
      ),
    },
    axes: [
      {
        ...axis,
        space: 72,
        gap: 7,
        size: (_plot, values) => (values?.some((text) => text?.includes('\n')) ? 42 : 28),
        grid: { show: false },
        values: (_plot, splits, _axis, _space, step) => axisTimes(splits, step, timeZone),
      },
      ...units.map((unit, at): UPlot.Axis => ({
        ...axis,
        scale: unit,
        side: at === 0 ? 3 : 1,
        gap: 8,
        size: (plot, values) => labelsOf(values, plot),
        grid: { show: at === 0 && !isHeatmap, stroke: inks.grid, width: 1 },
        splits: () => (isHeatmap ? series.map((_one, row) => row + 0.5) : [...(axes.get(unit)?.ticks ?? [])]),
        values: (plot, splits) =>
          isHeatmap ? rowLabels(plot, now(), inks) : tickLabels(splits, unit, isLog),
      })),
    ],
    series: [{}, ...columns.map((column, at) => seriesOf(drawing, columns, column, at))],
    ...bandsOf(drawing, columns),
    hooks: {
      drawClear: [(plot) => drawMarkRanges(plot, drawnMarks(now()), inks)],
      draw: [
        (plot) => isHeatmap && drawCells(plot, now(), inks),
        (plot) => drawForecast(plot, now(), columns, inks),
        (plot) => drawThresholds(plot, now().thresholds ?? [], inks),
        (plot) => onUnlabelled(drawMarks(plot, kind, drawnMarks(now()), inks)),
      ],
      setCursor: [onCursor],
      setSelect: [
        (plot) => {
          const { left, width: dragged } = plot.select
          if (dragged < dragMin) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          onDrag(plot.posToVal(left, 'x'), plot.posToVal(left + dragged, 'x'))
        },
      ],
    },
  }
}

/** The marks that have a line. */
export const drawnMarks = ({ marks = [] }: Pick<ChartProps, 'marks'>): readonly ChartMark[] =>
  marks.filter(({ isMinor }) => !isMinor)

/** The width of the longest label, with margins. */
function sizeOf(values: readonly string[], { ctx }: UPlot, inks: Inks): number {
  ctx.save()
  ctx.font = inks.font
  const widest = values.reduce((widest, text) => Math.max(widest, ctx.measureText(text ?? '').width), 0)
  ctx.restore()
  return Math.ceil(widest) + 12
}

function axisOf(
  props: ChartProps,
  unit: Unit,
  low: number | null,
  high: number | null,
  height: number,
  at: number,
): ValueAxis {
  const limits = (props.thresholds ?? []).filter((one) => one.unit === unit).map(({ value }) => value)
  const known = [low, high].filter((value) => value !== null && Number.isFinite(value)) as number[]
  const all = [...known, ...limits]
  if (props.isLog)
    return logAxis(Math.min(...(all.length > 0 ? all : [1])), Math.max(...(all.length > 0 ? all : [10])))
  const [from, to] = all.length > 0 ? [Math.min(...all), Math.max(...all)] : [0, 1]
  // The second unit has more room above, so that two lines of the same shape do not cover each other.
  return valueAxis(
    from,
    at === 0 ? to : to * 1.4,
    unit,
    Math.min(6, Math.max(2, Math.round((height - 60) / 42))),
  )
}

function seriesOf(
  { now, inks }: Drawing,
  columns: readonly Column[],
  column: Column,
  at: number,
): UPlot.Series {
  const props = now()
  const { kind } = props
  const { label, unit, color, isDashed = false, isLine = false } = props.series[column.series]!
  const ink = inks.of(color)
  const shared = { label, scale: unit }
  if (isBars(kind)) {
    return {
      ...shared,
      fill: ink,
      width: 0,
      points: { show: false },
      paths: (plot, _series, from, to) => barsOf(plot, now(), columns, at, from, to),
    }
  }
  if (kind === 'scatter') {
    const points = {
      show: true,
      size: isDashed ? 11 : 8,
      width: 1.5,
      stroke: inks.surface,
      fill: fade(ink, 0.8),
    }
    return { ...shared, paths: () => null, points }
  }
  if (column.role === 'low' || column.role === 'high' || kind === 'heatmap')
    return { ...shared, width: 0, stroke: 'transparent', points: { show: false } }
  if (column.role === 'stack') {
    return { ...shared, stroke: inks.surface, width: 1, fill: fade(ink, 0.85), points: { show: false } }
  }
  const isArea = kind === 'area' && !isDashed && !isLine
  return {
    ...shared,
    stroke: ink,
    width: 1.75,
    ...(isDashed ? { dash: [6, 4] } : {}),
    ...(isArea ? { fill: (plot: UPlot) => gradientOf(plot, ink) } : {}),
    points: {
      show: true,
      size: 5,
      stroke: ink,
      fill: ink,
      // A gap at both sides leaves no line; few values are drawn as points.
      filter: (plot, index) => {
        const values = plot.data[index] as (number | null | undefined)[]
        if (isStep(now())) return [0]
        return values.length <= pointsMax
          ? values.flatMap((value, at) => (typeof value === 'number' ? [at] : []))
          : isolatedValues(values)
      },
    },
  }
}

/** Stronger at the top, so that the line is the figure and the area its shade. */
function gradientOf({ ctx, bbox }: UPlot, ink: string): CanvasGradient | string {
  if (!(bbox.height > 0)) return fade(ink, 0.2)
  const gradient = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height)
  gradient.addColorStop(0, fade(ink, 0.34))
  gradient.addColorStop(1, fade(ink, 0.05))
  return gradient
}

/** Returns the bands to fill: in a stack each series with the one below, otherwise between the edges of the range. */
function bandsOf({ now, inks }: Drawing, columns: readonly Column[]): { bands: UPlot.Band[] } | undefined {
  const { kind, series } = now()
  const inkOf = (column: Column) => inks.of(series[column.series]!.color)
  if (kind === 'stacked-area') {
    const bands = columns
      .filter(({ role }) => role === 'stack')
      .slice(1)
      .map((column, at): UPlot.Band => ({ series: [at + 2, at + 1], fill: fade(inkOf(column), 0.85) }))
    return { bands }
  }
  if (kind !== 'band') return undefined
  const bands = columns.flatMap((column, at): UPlot.Band[] =>
    column.role === 'high' ? [{ series: [at + 1, at], fill: fade(inkOf(column), 0.2) }] : [],
  )
  return { bands }
}

/** Returns the width of a bar's period in the plot, of the bar in it, in CSS pixels. */
export function barWidths(plot: UPlot, props: ChartProps): { readonly period: number; readonly bar: number } {
  const { min = 0, max = 1 } = plot.scales['x'] ?? {}
  const period =
    (periodOf(props.times, props.periodMs) / (max! - min! || 1)) * (plot.bbox.width / devicePixelRatio)
  return { period, bar: Math.max(1, Math.min(period * 0.68, 44)) }
}

/** Stacked bars have a line of the ground between them; the highest one has round corners. A forecast is drawn afterwards. */
function barsOf(
  plot: UPlot,
  props: ChartProps,
  columns: readonly Column[],
  at: number,
  from: number,
  to: number,
): UPlot.Series.Paths {
  const last = Math.min(to, (props.forecastFrom ?? Infinity) - 1)
  const path = pathOfBars(plot, props, columns, at, from, last)
  return { fill: path, stroke: null, clip: null, band: null, gaps: [], flags: 1 }
}

/** Draws the bars of a forecast: pale, with a dashed border. */
function drawForecast(plot: UPlot, props: ChartProps, columns: readonly Column[], inks: Inks): void {
  const { forecastFrom, kind, times, series } = props
  if (forecastFrom === undefined || !isBars(kind)) return
  const { ctx } = plot
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
  for (const [at, column] of columns.entries()) {
    const ink = inks.of(series[column.series]!.color)
    const path = pathOfBars(plot, props, columns, at, forecastFrom, times.length - 1)
    ctx.fillStyle = fade(ink, 0.22)
    ctx.strokeStyle = ink
    ctx.fill(path)
    ctx.stroke(path)
  }
  ctx.restore()
}

function pathOfBars(
  plot: UPlot,
  props: ChartProps,
  columns: readonly Column[],
  at: number,
  from: number,
  to: number,
): Path2D {
  const path = new Path2D()
  for (let index = from; index <= to; index++) addBar(path, plot, props, columns, at, index)
  return path
}

function addBar(
  path: Path2D,
  plot: UPlot,
  props: ChartProps,
  columns: readonly Column[],
  at: number,
  index: number,
): void {
  const { unit } = props.series[columns[at]!.series]!
  const stacked = isStacked(props.kind)
  const whole = barWidths(plot, props).bar * devicePixelRatio
  const width = stacked ? whole : whole / columns.length
  const zero = plot.valToPos(0, unit, true)
  const valueAt = (column: number) => (plot.data[column + 1] as (number | null)[])[index] ?? null
  const value = valueAt(at)
  const below = stacked && at > 0 ? (valueAt(at - 1) ?? 0) : 0
  if (value === null || value === below) return
  const x = plot.valToPos(plot.data[0][index]!, 'x', true) - whole / 2 + (stacked ? 0 : width * at)
  const top = plot.valToPos(value, unit, true)
  const bottom = below === 0 ? zero : plot.valToPos(below, unit, true) - devicePixelRatio
  const isHighest = !stacked || columns.every((_column, other) => other <= at || valueAt(other) === value)
  const radius = isHighest ? Math.min(3 * devicePixelRatio, width / 2) : 0
  const gap = stacked || columns.length === 1 ? 0 : devicePixelRatio
  path.roundRect(Math.round(x), top, Math.max(1, Math.round(width - gap)), Math.max(1, bottom - top), [
    radius,
    radius,
    0,
    0,
  ])
}

/** Returns the index of the point nearest to the pointer in both directions, of all series. */
function nearestPoint(plot: UPlot, _series: number, byTime: number): number {
  const { left = -1, top = -1 } = plot.cursor
  if (left < 0) return byTime
  const [times, ...lists] = plot.data
  let best = byTime
  let least = Infinity
  for (const [at, time] of times.entries()) {
    const x = plot.valToPos(time, 'x') - left
    for (const [index, values] of lists.entries()) {
      const value = values[at]
      if (value === null || value === undefined) continue
      const y = plot.valToPos(value, plot.series[index + 1]!.scale!) - top
      const distance = x * x + y * y
      if (distance < least) [best, least] = [at, distance]
    }
  }
  return best
}
