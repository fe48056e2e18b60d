// Draws lines and ranges over a chart: events with their labels, and thresholds.
import type UPlot from 'uplot'
import type { ChartKind, ChartMark, ChartThreshold } from './chart-props.ts'
import { fade, type Inks } from './inks.ts'
import { placeMarkLabels } from './labels.ts'
import { isBars } from './stack.ts'

/** More rows of labels would cover the values; further marks are lines, and listed below. Cells and bars have labels above them only. */
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

/**
 * Draws a dotted line at the start of each mark, with its label above the values; a label that would cover another moves down. Returns
 * the visible marks whose labels have no room.
 */
export function drawMarks(
  plot: UPlot,
  kind: ChartKind,
  marks: readonly ChartMark[],
  inks: Inks,
): readonly ChartMark[] {
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
    .map(({ x, ...mark }) => ({ mark, x: Math.max(x, bbox.left) }))
  begin(plot, inks, [2, 3])
  const gap = 5 * devicePixelRatio
  const places = placeMarkLabels(
    visible.map(({ x, mark }) => ({ x, width: ctx.measureText(mark.label).width })),
    right,
    gap,
    kind === 'heatmap' || isBars(kind) ? 1 : rowsMax,
  )
  for (const [at, { x, mark }] of visible.entries()) {
    const { label, state } = mark
    ctx.strokeStyle = state ? inks.of(state) : inks.axis
    drawLine(ctx, x, bbox.top - 16 * devicePixelRatio, x, bbox.top + bbox.height)
    const place = places[at]
    if (place)
      drawLabel(ctx, label, place.left, bbox.top + (place.row * rowHeight - 6) * devicePixelRatio, inks)
  }
  ctx.restore()
  return visible.flatMap(({ mark }, at) => (places[at] ? [] : [mark]))
}

/** Draws a dashed line at each threshold; the legend names it. */
export function drawThresholds(plot: UPlot, thresholds: readonly ChartThreshold[], inks: Inks): void {
  const { bbox } = plot
  begin(plot, inks, [5, 4])
  for (const { value, unit, color = 'warn' } of thresholds) {
    if (plot.scales[unit] === undefined) continue
    const y = plot.valToPos(value, unit, true)
    if (y < bbox.top - 1 || y > bbox.top + bbox.height + 1) continue
    plot.ctx.strokeStyle = inks.of(color)
    drawLine(plot.ctx, bbox.left, y, bbox.left + bbox.width, y)
  }
  plot.ctx.restore()
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
