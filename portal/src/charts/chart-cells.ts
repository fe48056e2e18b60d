// Draws the cells of a heatmap: a row for each series, a column for each time.
import type UPlot from 'uplot'
import type { ChartPoint, ChartProps } from './chart-props.ts'
import { fade, type Inks } from './inks.ts'
import { shadeAt, shadeColor, shadeScale } from './shades.ts'
import { periodOf } from './stack.ts'

/** Enough shades that steps between them are invisible. */
const shadeCount = 48
/** Narrower columns have no line between them. */
const lineFromWidth = 6

type CellProps = Pick<ChartProps, 'times' | 'series' | 'periodMs'>

/** Draws a cell for each value. A gap has the background color, 0 has a shade. */
export function drawCells(plot: UPlot, { times, series, periodMs }: CellProps, inks: Inks): void {
  const { ctx, bbox } = plot
  const scale = shadeScale(series.map(({ values }) => values))
  const colors = { ground: inks.surface, hue: inks.of(1), text: inks.strong }
  const shades = Array.from({ length: shadeCount + 1 }, (_, at) => shadeColor(at / shadeCount, colors))
  const zero = fade(inks.grid, 0.5)
  const period = periodOf(times, periodMs)
  const height = bbox.height / series.length
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  // Whole pixels: neighbours do not blend.
  const edges = times.map((time) =>
    [time, time + period].map((end) => Math.round(plot.valToPos(end, 'x', true))),
  )
  const gap = Math.round(devicePixelRatio)
  for (const [row, { values }] of series.entries()) {
    const top = Math.round(bbox.top + row * height)
    const bottom = Math.round(bbox.top + (row + 1) * height) - gap
    for (const [at, value] of values.entries()) {
      const [left, right] = edges[at] as [number, number]
      if (typeof value !== 'number' || right < bbox.left || left > bbox.left + bbox.width) continue
      ctx.fillStyle = value > 0 && scale ? shades[Math.round(shadeAt(value, scale) * shadeCount)]! : zero
      const line = right - left >= lineFromWidth * devicePixelRatio ? gap : 0
      ctx.fillRect(left, top, Math.max(1, right - left - line), bottom - top)
    }
  }
  ctx.restore()
}

/** Returns the visible ends of a column, in CSS pixels. */
const endsOf = (plot: UPlot, { times, periodMs }: CellProps, index: number): readonly [number, number] => {
  const place = (time: number) => Math.min(plot.over.clientWidth, Math.max(0, plot.valToPos(time, 'x')))
  return [place(times[index]!), place(times[index]! + periodOf(times, periodMs))]
}

/** Returns the cell under the pointer, in CSS pixels. */
export function cellAt(plot: UPlot, props: CellProps): ChartPoint | undefined {
  const { times, series, periodMs } = props
  const { left = -1, top = -1 } = plot.cursor
  if (left < 0 || top < 0) return undefined
  const { offsetLeft, offsetTop, clientHeight } = plot.over
  const time = plot.posToVal(left, 'x')
  const index = times.findLastIndex((start) => start <= time)
  if (index < 0 || time >= times[index]! + periodOf(times, periodMs)) return undefined
  const height = clientHeight / series.length
  const row = Math.min(series.length - 1, Math.floor(top / height))
  const [from, to] = endsOf(plot, props, index)
  return {
    index,
    row,
    x: offsetLeft + (from + to) / 2,
    y: offsetTop + (row + 0.5) * height,
    column: {
      left: offsetLeft + from,
      top: offsetTop + row * height,
      width: Math.max(2, to - from),
      height,
    },
  }
}

/** Moves the pointer to the middle of a cell, or of its visible part. */
export function moveToCell(plot: UPlot, props: CellProps, index: number, row: number): void {
  const [from, to] = endsOf(plot, props, index)
  const { length } = props.series
  plot.setCursor({ left: (from + to) / 2, top: ((row + 0.5) * plot.over.clientHeight) / length })
}

/** Returns the names of the rows, cut to a part of the chart's width. */
export function rowLabels(plot: UPlot, { series }: CellProps, inks: Inks): string[] {
  const { ctx } = plot
  const widest = Math.min(200, plot.width * 0.3)
  ctx.save()
  ctx.font = inks.font
  const fits = (text: string) => ctx.measureText(text).width <= widest
  const labels = series.map(({ label }) => {
    if (fits(label)) return label
    let length = label.length - 1
    while (length > 1 && !fits(`${label.slice(0, length)}…`)) length--
    return `${label.slice(0, length).trimEnd()}…`
  })
  ctx.restore()
  return labels
}
