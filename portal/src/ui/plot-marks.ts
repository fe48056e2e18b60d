// Labelled lines on a plot: events, and the detector's thresholds.
import type UPlot from 'uplot'
import type { PlotProps } from './plot-props.ts'

export type Inks = {
  readonly series: Readonly<Record<'blue' | 'orange' | 'red', string>>
  readonly words: string
  readonly grid: string
  readonly mark: string
  readonly font: string
}

/** Draws vertical lines with labels at the top; a label that would cover another moves down a row. */
export function drawMarks(plot: UPlot, marks: NonNullable<PlotProps['marks']>, inks: Inks): void {
  const { ctx, bbox } = plot
  const gap = 4 * devicePixelRatio
  const rowHeight = 13 * devicePixelRatio
  const rows: number[] = []
  begin(plot, inks, [2, 3])
  for (const { at, label } of marks.toSorted((a, b) => a.at - b.at)) {
    const x = plot.valToPos(at, 'x', true)
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue
    line(ctx, x, bbox.top, x, bbox.top + bbox.height)
    const width = ctx.measureText(label).width
    const left = x + gap + width > bbox.left + bbox.width ? x - gap - width : x + gap
    const free = rows.findIndex((end) => end < left)
    const row = free < 0 ? rows.length : free
    rows[row] = left + width + gap
    ctx.fillText(label, left, bbox.top + (row + 1) * rowHeight - gap / 2)
  }
  ctx.restore()
}

export function drawThresholds(
  plot: UPlot,
  thresholds: NonNullable<PlotProps['thresholds']>,
  inks: Inks,
): void {
  const { ctx, bbox } = plot
  begin(plot, { ...inks, mark: inks.series.red }, [8, 4])
  for (const { value, unit, label } of thresholds) {
    if (plot.scales[unit] === undefined) continue
    const y = plot.valToPos(value, unit, true)
    line(ctx, bbox.left, y, bbox.left + bbox.width, y)
    const gap = 4 * devicePixelRatio
    ctx.fillText(label, bbox.left + bbox.width - ctx.measureText(label).width - gap, y - gap)
  }
  ctx.restore()
}

function begin({ ctx }: UPlot, inks: Inks, dash: readonly number[]): void {
  ctx.save()
  ctx.strokeStyle = inks.mark
  ctx.fillStyle = inks.mark
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio))
  ctx.font = inks.font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio))
  ctx.textAlign = 'left'
  ctx.textBaseline = 'alphabetic'
}

function line(ctx: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  ctx.beginPath()
  ctx.moveTo(fromX, fromY)
  ctx.lineTo(toX, toY)
  ctx.stroke()
}
