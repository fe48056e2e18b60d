// Draws labelled lines and ranges over a chart: events, and thresholds.
import type UPlot from 'uplot'
import type { ChartMark, ChartProps, ChartThreshold } from './chart-props.ts'
import { fade, type Inks } from './inks.ts'
import { placeMarkLabels } from './labels.ts'

/** More rows of labels would cover the values; further marks are lines only. Cells have labels above them only. */
const rowsMax = 3
const rowHeight = 15

/** Draws the grounds of ranges, below the values. */
export function drawMarkRanges(plot: UPlot, marks: readonly ChartMark[], inks: Inks): void {
  const { ctx, bbox } = plot
  ctx.save()
  clip(plot)
  for (const { at, until, state = 'idle' } of marks) {
    if (until === undefined) continue
    const from = plot.valToPos(at, 'x', true)
    const to = Math.max(plot.valToPos(until, 'x', true), from + devicePixelRatio)
    ctx.fillStyle = fade(inks.of(state), 0.12)
    ctx.fillRect(from, bbox.top, to - from, bbox.height)
  }
  ctx.restore()
}

type MarkProps = Pick<ChartProps, 'kind' | 'marks'>

/** Draws a dotted line at the start of each mark, with its label above the values; a label that would cover another moves down. */
export function drawMarks(plot: UPlot, { kind, marks = [] }: MarkProps, inks: Inks): void {
  const { ctx, bbox } = plot
  const right = bbox.left + bbox.width
  const visible = marks
    .toSorted((a, b) => a.at - b.at)
    .map((mark) => ({ ...mark, x: plot.valToPos(mark.at, 'x', true) }))
    .filter(
      ({ x, until }) =>
        x <= right + 1 &&
        (x >= bbox.left - 1 || (until !== undefined && plot.valToPos(until, 'x', true) > bbox.left)),
    )
    .map((mark) => ({ ...mark, x: Math.max(mark.x, bbox.left) }))
  begin(plot, inks, [2, 3])
  const gap = 5 * devicePixelRatio
  const places = placeMarkLabels(
    visible.map(({ x, label }) => ({ x, width: ctx.measureText(label).width })),
    right,
    gap,
    kind === 'heatmap' ? 1 : rowsMax,
  )
  for (const [at, { x, label, state }] of visible.entries()) {
    ctx.strokeStyle = state ? inks.of(state) : inks.axis
    drawLine(ctx, x, bbox.top - 16 * devicePixelRatio, x, bbox.top + bbox.height)
    const place = places[at]
    if (place)
      drawLabel(ctx, label, place.left, bbox.top + (place.row * rowHeight - 6) * devicePixelRatio, inks)
  }
  ctx.restore()
}

/** Draws a dashed line at each threshold, with its label at the end that is near the axis of its unit: lines of two units may be close. */
export function drawThresholds(plot: UPlot, thresholds: readonly ChartThreshold[], inks: Inks): void {
  const { ctx, bbox } = plot
  begin(plot, inks, [5, 4])
  const gap = 5 * devicePixelRatio
  for (const { value, unit, label, state = 'warn' } of thresholds) {
    if (plot.scales[unit] === undefined) continue
    const y = plot.valToPos(value, unit, true)
    if (y < bbox.top - 1 || y > bbox.top + bbox.height + 1) continue
    ctx.strokeStyle = inks.of(state)
    drawLine(ctx, bbox.left, y, bbox.left + bbox.width, y)
    // Above the line, or below it at the top of the chart.
    const isHigh = y - bbox.top < rowHeight * devicePixelRatio
    const labelY = isHigh ? y + gap + 9 * devicePixelRatio : y - gap
    const isLeft = thresholds.some((one) => one.unit !== unit) && unit === thresholds[0]!.unit
    const right = bbox.left + bbox.width - ctx.measureText(label).width - gap
    drawLabel(ctx, label, isLeft ? bbox.left + gap : right, labelY, inks)
  }
  ctx.restore()
}

/** Draws a background behind the text, so that it is readable over lines. */
function drawLabel(
  ctx: CanvasRenderingContext2D,
  label: string,
  left: number,
  baseline: number,
  inks: Inks,
): void {
  ctx.save()
  ctx.setLineDash([])
  ctx.lineJoin = 'round'
  ctx.lineWidth = 4 * devicePixelRatio
  ctx.strokeStyle = fade(inks.surface, 0.85)
  ctx.strokeText(label, left, baseline)
  ctx.fillStyle = inks.text
  ctx.fillText(label, left, baseline)
  ctx.restore()
}

function begin(plot: UPlot, inks: Inks, dash: readonly number[]): void {
  const { ctx } = plot
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio))
  ctx.font = inks.font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio))
  ctx.textAlign = 'left'
  ctx.textBaseline = 'alphabetic'
}

function clip({ ctx, bbox }: UPlot): void {
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
}

function drawLine(
  ctx: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): void {
  ctx.beginPath()
  ctx.moveTo(Math.round(fromX) + 0.5, Math.round(fromY) + 0.5)
  ctx.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5)
  ctx.stroke()
}
