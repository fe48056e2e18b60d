// The charts of a report as vector drawings on a page. Loaded in the thread of the report only.
import { contentWidth, ink, page, type Sheets } from './report-sheet.ts'

export type ChartSeries = {
  readonly label: string
  readonly color: string
  readonly values: readonly (number | null)[]
}

export type TimeChart = {
  /** The start of each bucket and the end of the last, ms since 1970. */
  readonly borders: readonly number[]
  readonly series: readonly ChartSeries[]
  /** The days that are marked below the chart, with their labels. */
  readonly days: readonly { readonly at: number; readonly label: string }[]
  readonly height: number
  readonly valueText: (value: number) => string
}

const axisWidth = 46
const plot = { x: page.margin + axisWidth, width: contentWidth - axisWidth } as const

type Frame = {
  readonly xOf: (time: number) => number
  readonly yOf: (value: number) => number
  readonly bottom: number
}

/** Rates as lines over a light area; a time without a value is a gap. `lines` are marked across the chart. */
export function drawAreas(
  sheets: Sheets,
  chart: TimeChart,
  lines: readonly { readonly value: number; readonly label: string; readonly color: string }[],
): void {
  const { borders, series } = chart
  const most = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 1)
  const frame = drawFrame(sheets, chart, scaleOf(most, 4, false))
  const { canvas } = sheets
  for (const { color, values } of series) {
    for (const run of runsOf(values)) {
      const points = run.map(
        (at) => [frame.xOf((borders[at]! + borders[at + 1]!) / 2), frame.yOf(values[at]!)] as const,
      )
      const path = () => {
        canvas.beginPath()
        for (const [x, y] of points) canvas.lineTo(x, y)
      }
      path()
      canvas.lineTo(points.at(-1)![0], frame.bottom)
      canvas.lineTo(points[0]![0], frame.bottom)
      canvas.closePath()
      canvas.globalAlpha = 0.13
      canvas.fillStyle = color
      canvas.fill()
      canvas.globalAlpha = 1
      path()
      canvas.strokeStyle = color
      canvas.lineWidth = 0.8
      canvas.lineJoin = 'round'
      canvas.stroke()
    }
  }
  for (const { value, label, color } of lines) {
    const y = frame.yOf(value)
    canvas.strokeStyle = color
    canvas.lineWidth = 0.8
    canvas.setLineDash([3, 2])
    canvas.beginPath()
    canvas.moveTo(plot.x, y)
    canvas.lineTo(plot.x + plot.width, y)
    canvas.stroke()
    canvas.setLineDash([])
    drawTag(sheets, label, y, color)
  }
  drawLegend(sheets, series)
}

/** A label above a line, readable over the chart. */
function drawTag(sheets: Sheets, label: string, y: number, color: string): void {
  const { canvas } = sheets
  const right = plot.x + plot.width
  canvas.font = `500 7px ${sheets.fonts}`
  const width = canvas.measureText(label).width + 8
  canvas.fillStyle = '#ffffff'
  canvas.globalAlpha = 0.88
  canvas.beginPath()
  canvas.roundRect(right - width, y - 12, width, 10.5, 2)
  canvas.fill()
  canvas.globalAlpha = 1
  sheets.write(label, right - 4, y - 4.5, { size: 7, weight: 500, color, align: 'right' })
}

/** Counts as bars, stacked in the order of the series. */
export function drawStackedBars(sheets: Sheets, chart: TimeChart): void {
  const { borders, series } = chart
  const totals = borders
    .slice(0, -1)
    .map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const frame = drawFrame(sheets, chart, scaleOf(Math.max(...totals, 1), 4, true))
  const { canvas } = sheets
  for (const at of totals.keys()) {
    const [left, right] = [frame.xOf(borders[at]!), frame.xOf(borders[at + 1]!)]
    const gap = Math.min(3, (right - left) * 0.2)
    let below = 0
    for (const { color, values } of series) {
      const value = values[at] ?? 0
      if (value === 0) continue
      const [top, bottom] = [frame.yOf(below + value), frame.yOf(below)]
      canvas.fillStyle = color
      canvas.fillRect(left + gap / 2, top, right - left - gap, bottom - top)
      below += value
    }
  }
  drawLegend(sheets, series)
}

/** Grid, values at the left and days below. */
function drawFrame(
  sheets: Sheets,
  { borders, days, height, valueText }: TimeChart,
  { top, step }: Scale,
): Frame {
  const { canvas } = sheets
  const [first, last] = [borders[0]!, borders.at(-1)!]
  const head = sheets.y + 12
  const bottom = head + height
  const frame: Frame = {
    xOf: (time) => plot.x + ((time - first) / (last - first)) * plot.width,
    yOf: (value) => bottom - (value / top) * height,
    bottom,
  }
  for (let value = 0; value <= top + step / 2; value += step) {
    const y = frame.yOf(value)
    canvas.fillStyle = value === 0 ? ink.faint : ink.line
    canvas.fillRect(plot.x, y - 0.3, plot.width, 0.6)
    sheets.write(valueText(value), plot.x - 6, y + 2.5, { size: 7, color: ink.faint, align: 'right' })
  }
  for (const { at, label } of days) {
    const x = frame.xOf(at)
    canvas.fillStyle = ink.faint
    canvas.fillRect(x - 0.3, bottom, 0.6, 3)
    sheets.write(label, x + 2, bottom + 10, { size: 7, color: ink.faint })
  }
  sheets.y = bottom + 16
  return frame
}

function drawLegend(sheets: Sheets, series: readonly Pick<ChartSeries, 'label' | 'color'>[]): void {
  const { canvas } = sheets
  sheets.y += 8
  let x: number = plot.x
  for (const { label, color } of series) {
    canvas.fillStyle = color
    canvas.beginPath()
    canvas.roundRect(x, sheets.y - 6, 8, 6, 1.5)
    canvas.fill()
    sheets.write(label, x + 12, sheets.y, { size: 7.5, color: ink.soft })
    x += 12 + canvas.measureText(label).width + 16
  }
  sheets.y += 4
}

export type ShareBars = {
  readonly title: string
  readonly bars: readonly { readonly label: string; readonly value: number; readonly text: string }[]
  readonly color: string
}

const barRow = 22

/** Height of the largest of the groups. */
export const shareHeight = (groups: readonly ShareBars[]): number =>
  26 + barRow * Math.max(...groups.map(({ bars }) => bars.length))

/** Groups of horizontal bars beside each other, each bar with its label and value above it. */
export function drawShares(sheets: Sheets, groups: readonly ShareBars[]): void {
  const gap = 22
  const columns = Math.max(2, groups.length)
  const width = (contentWidth - gap * (columns - 1)) / columns
  const top = sheets.y + 20
  for (const [at, { title, bars, color }] of groups.entries()) {
    const x = page.margin + at * (width + gap)
    sheets.write(title, x, top, { size: 9, weight: 600 })
    const most = Math.max(...bars.map(({ value }) => value), 1)
    for (const [row, { label, value, text }] of bars.entries()) {
      const y = top + 16 + row * barRow
      sheets.write(label, x, y, { size: 8, color: ink.soft, widthMax: width - 52 })
      sheets.write(text, x + width, y, { size: 8, weight: 500, align: 'right' })
      const { canvas } = sheets
      canvas.fillStyle = ink.line
      canvas.beginPath()
      canvas.roundRect(x, y + 4, width, 3.5, 1.75)
      canvas.fill()
      canvas.fillStyle = color
      canvas.beginPath()
      canvas.roundRect(x, y + 4, Math.max(3.5, (value / most) * width), 3.5, 1.75)
      canvas.fill()
    }
  }
  sheets.y = top + shareHeight(groups) - 12
}

type Scale = { readonly top: number; readonly step: number }

/** A round step, so that about this number of lines reaches the largest value. */
function scaleOf(most: number, lines: number, isWhole: boolean): Scale {
  const rough = most / lines
  const power = 10 ** Math.floor(Math.log10(rough))
  const round = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough)! * power
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round
  return { top: Math.ceil(most / step) * step, step }
}

/** The indices of values that follow each other without a gap. */
function runsOf(values: readonly (number | null)[]): number[][] {
  const runs: number[][] = []
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    if (at > 0 && values[at - 1] !== null && runs.length > 0) runs.at(-1)!.push(at)
    else runs.push([at])
  }
  return runs
}
