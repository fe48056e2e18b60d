// Formats the lines of all benchmarks as a table in plain text. Pure.
import type { Line } from './benchmark.ts'

const titles = ['', 'what', 'result', 'peer', 'ratio', 'goal', 'reached'] as const

export type NamedLine = { readonly id: string; readonly line: Line }

/** Columns as wide as their widest cell; a line break at the end. */
export function renderTable(lines: readonly NamedLine[]): string {
  const rows = [titles, ...lines.map(cellsOf)]
  const widths = titles.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  const texts = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return `${[texts[0], rule, ...texts.slice(1)].join('\n')}\n`
}

function cellsOf({ id, line }: NamedLine): string[] {
  return [id, line.what, line.result, line.peer, line.ratio, line.goal, answerOf(line)]
}

function answerOf({ goal, reached }: Line): string {
  if (goal === '' || reached === undefined) return '-'
  return reached ? 'yes' : 'NO'
}

/** `12,345/s`, or `45.6/s` below a hundred. */
export function perSecond(value: number): string {
  return `${value < 100 ? value.toFixed(1) : whole(value)}/s`
}

/** `0.55 ms`, `247 ms`, `12.3 s`. */
export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : whole(value)} ms`
}

/** `0.62x`, `12x`. */
export function times(value: number): string {
  return `${value < 10 ? value.toFixed(2) : whole(value)}x`
}

/** `10,000`. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
