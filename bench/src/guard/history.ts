// bench/HISTORY.md: a line for each complete run of the guard. Pure.
import type { PathId } from './hot-path.ts'

/** Microseconds of processor time per unit of work, and the ratio to the peer. */
export type Figure = {
  readonly ratio: number
  readonly programMicros: number
  readonly databaseMicros: number
}

export type Run = {
  /** `2026-11-28`. */
  readonly date: string
  /** With `+` if the tree had changes. */
  readonly commit: string
  readonly processor: string
  /** Average number of running processes in the last minute. */
  readonly load: number
  readonly figures: Partial<Readonly<Record<PathId, Figure>>>
}

const fixedTitles = ['Date', 'Commit', 'Processor', 'Load']

/** Adds a run; it begins a new table if it has other paths than the last one. */
export function appendRun(text: string, run: Run, ids: readonly PathId[]): string {
  const header = rowOf([...fixedTitles, ...ids])
  const lines = text.trimEnd().split('\n')
  const last = lines.findLast((line) => line.startsWith(rowOf(fixedTitles)))
  const table = last === header ? [] : ['', header, `|${'---|'.repeat(fixedTitles.length + ids.length)}`]
  const { date, commit, processor, load, figures } = run
  const cells = ids.map((id) => cellOf(figures[id]))
  const row = rowOf([date, commit, processor.replaceAll('|', ' '), load.toFixed(1), ...cells])
  return `${[...lines, ...table, row].join('\n')}\n`
}

/** Returns the runs of all tables, the oldest first. */
export function parseHistory(text: string): Run[] {
  const runs: Run[] = []
  let ids: readonly string[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith('| ')) continue
    const [date = '', commit = '', processor = '', load = '', ...cells] = line.slice(2, -2).split(' | ')
    if (date === fixedTitles[0]) ids = cells
    else runs.push({ date, commit, processor, load: Number(load), figures: figuresOf(ids, cells) })
  }
  return runs
}

function figuresOf(ids: readonly string[], cells: readonly string[]): Run['figures'] {
  const entries = ids.flatMap((id, at) => {
    const [, ratio, program, database] = /^([\d.]+)x ([\d.]+)\+([\d.]+)$/.exec(cells[at] ?? '') ?? []
    if (ratio === undefined) return []
    const figure: Figure = {
      ratio: Number(ratio),
      programMicros: Number(program),
      databaseMicros: Number(database),
    }
    return [[id, figure] as const]
  })
  return Object.fromEntries(entries)
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const cellOf = (figure: Figure | undefined): string =>
  figure
    ? `${figure.ratio.toFixed(2)}x ${micros(figure.programMicros)}+${micros(figure.databaseMicros)}`
    : '-'

/** `0.42`, `12.3`, `219`. */
export const micros = (value: number): string => value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0)
