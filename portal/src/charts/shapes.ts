// The shapes of the small pictures: a spark's paths, the rows of share bars, the layout of a flow diagram. Pure.
import type { ChartValues } from './chart-props.ts'
import { formatShare } from './units.ts'
import { words } from './words.ts'

export type SparkPaths = { readonly line: string; readonly area: string }

/** Returns the paths of a spark in a view of that size, above 0; a gap interrupts both. */
export function sparkPaths(values: ChartValues, width: number, height: number): SparkPaths {
  const highest = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  const stepX = values.length > 1 ? width / (values.length - 1) : 0
  const runs: [x: number, y: number][][] = [[]]
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue
    if (value === null) runs.push([])
    else runs.at(-1)!.push([round(at * stepX), round(height - (Math.max(0, value) / highest) * height)])
  }
  const drawn = runs
    .filter((run) => run.length > 0)
    .map((run) => (run.length > 1 ? run : widened(run[0]!, stepX || width)))
  const line = drawn.map((run) => `M${run.map((point) => point.join(' ')).join('L')}`).join('')
  const area = drawn
    .map(
      (run) =>
        `M${run[0]![0]} ${height}L${run.map((point) => point.join(' ')).join('L')}L${run.at(-1)![0]} ${height}Z`,
    )
    .join('')
  return { line, area }
}

/** A single value is a step. */
const widened = ([x, y]: [number, number], step: number): [number, number][] => [
  [x, y],
  [round(x + step), y],
]

const round = (value: number): number => Math.round(value * 10) / 10

export type Share = {
  readonly label: string
  readonly secondary?: string
  readonly value: number
  readonly href?: string
}

export type ShareRow = Share & {
  readonly share: string
  readonly percent: number
  readonly isOthers: boolean
}

/**
 * Returns the largest shares of the total, then the others as one row. The total may be larger than the sum; the rest then
 * belongs to the others.
 */
export function shareRows(items: readonly Share[], rowsMax: number, total?: number): ShareRow[] {
  const sum = items.reduce((sum, { value }) => sum + value, 0)
  const whole = Math.max(total ?? sum, sum)
  const rowOf = (item: Share, isOthers: boolean): ShareRow => ({
    ...item,
    isOthers,
    share: formatShare(item.value, whole),
    percent: whole > 0 ? (item.value / whole) * 100 : 0,
  })
  const ordered = items.toSorted((a, b) => b.value - a.value)
  // One row of others takes as much room as the row that it hides.
  const shown = ordered.length <= rowsMax + 1 ? ordered : ordered.slice(0, rowsMax)
  const rest = whole - shown.reduce((sum, { value }) => sum + value, 0)
  const hiddenCount = ordered.length - shown.length
  const rows = shown.map((item) => rowOf(item, false))
  if (rest <= whole * 1e-9) return rows
  return [
    ...rows,
    rowOf({ label: hiddenCount > 0 ? words.others(hiddenCount) : words.rest, value: rest }, true),
  ]
}
