// The series of an answer as rows of the explorer: named, colored, with their share. Pure.
import type { FlowGraph, FlowNode } from '@pharos/contract/flow/flow'
import type { Series } from '@pharos/contract/timeseries'
import { directionColors, type ChartColor } from '../charts/chart-props.ts'
import type { Unit } from '../charts/units.ts'
import type { Metric, Rank } from './traffic-view.ts'
import { words } from './words.ts'

export type TrafficRow = {
  /** Unique among the rows. */
  readonly id: string
  /** The value of each dimension, in their order; null for all others. */
  readonly values: readonly (string | null)[]
  /** The names of the values, for people. */
  readonly names: readonly string[]
  readonly label: string
  readonly color: ChartColor
  readonly isOthers: boolean
  readonly series: Series
  /** Share of the sum of all averages, 0 to 1. */
  readonly share: number
  /** The same group in the period before. */
  readonly before?: Series
}

export const unitOf: Record<Metric, Unit> = {
  bps: 'bps',
  pps: 'pps',
  bytes: 'bytes',
  packets: 'packets',
  flows: 'count',
}

/** Returns the dimensions of an answer, which stays on the screen while one by others loads. */
export const dimensionsOf = (series: readonly Series[]): readonly string[] =>
  Object.keys(series[0]?.key ?? {})

/** Number of series colors; the eighth color is for the other groups. */
const slots = 7

/** Separates the names of several dimensions in the label of a series. */
const separator = ' · '

/**
 * Returns a row for each series, the largest by `rank` first, the others last. The label of a series has the names of its
 * dimensions, separated by ` · `; without as many of them as dimensions, the values themselves.
 */
export function rowsOf(
  series: readonly Series[],
  by: readonly string[],
  rank: Rank,
  before: readonly Series[] = [],
): readonly TrafficRow[] {
  const total = series.reduce((sum, { avg }) => sum + (avg ?? 0), 0)
  const earlier = new Map(before.map((one) => [idOf(one, by), one]))
  const isOthers = ({ key }: Series) => by.length > 0 && by.every((name) => (key[name] ?? null) === null)
  const sorted = series.toSorted(
    (a, b) => Number(isOthers(a)) - Number(isOthers(b)) || (b[rank] ?? 0) - (a[rank] ?? 0),
  )
  const labels = new Set<string>()
  return sorted.map((one, at): TrafficRow => {
    const id = idOf(one, by)
    const others = isOthers(one)
    const values = by.map((name) => one.key[name] ?? null)
    const names = others ? by.map(() => words.picture.others) : namesOf(one, values)
    const label =
      by.length === 0 ? one.label || words.picture.all : others ? words.picture.others : names.join(separator)
    // The legend identifies series by their labels.
    const unique = labels.has(label) ? `${label} (${values.join(', ')})` : label
    labels.add(unique)
    const previous = earlier.get(id)
    return {
      id,
      values,
      names,
      label: unique,
      color: others ? 8 : colorOf(by, values, at),
      isOthers: others,
      series: one,
      share: total > 0 ? (one.avg ?? 0) / total : 0,
      ...(previous ? { before: previous } : {}),
    }
  })
}

/** A direction has its color, wherever it is in the order. */
function colorOf(by: readonly string[], values: TrafficRow['values'], at: number): ChartColor {
  const known = by.length === 1 && by[0] === 'direction' ? values[0] : undefined
  return known === 'in' || known === 'out' ? directionColors[known] : (((at % slots) + 1) as ChartColor)
}

const idOf = ({ key }: Series, by: readonly string[]): string =>
  JSON.stringify(by.map((name) => key[name] ?? null))

function namesOf({ label }: Series, values: readonly (string | null)[]): readonly string[] {
  if (values.length === 1) return [label || values[0] || words.picture.unknown]
  const parts = label.split(separator)
  return parts.length === values.length
    ? parts
    : values.map((value) => (value === null || value === '' ? words.picture.unknown : value))
}

/** Returns the values as parts of the sum at each time, in percent; a time without traffic is a gap. */
export function percentOf(columns: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums = (columns[0] ?? []).map((_, at) => columns.reduce((sum, column) => sum + (column[at] ?? 0), 0))
  return columns.map((column) =>
    column.map((value, at) => (value === null || sums[at]! <= 0 ? null : (value / sums[at]!) * 100)),
  )
}

/** Returns the sum at each time; a time that no series knows is a gap. */
export const sumOf = (columns: readonly (readonly (number | null)[])[]): (number | null)[] =>
  (columns[0] ?? []).map((_, at) =>
    columns.some((column) => column[at] !== null && column[at] !== undefined)
      ? columns.reduce((sum, column) => sum + (column[at] ?? 0), 0)
      : null,
  )

export type NamedFlow = { readonly from: string; readonly to: string; readonly value: number }

/**
 * Returns the bands of a flow diagram. A node is its name there: names that several nodes share are distinguished by the name of
 * their column, and if necessary by their value.
 */
export function bandsOf({ nodes, links }: FlowGraph, labelOf: (key: string) => string): readonly NamedFlow[] {
  const nameOf = (node: FlowNode) =>
    node.value === null ? words.picture.others : node.label || words.picture.unknown
  const count = Map.groupBy(nodes, nameOf)
  const taken = new Set<string>()
  const ids = nodes.map((node) => {
    const name = nameOf(node)
    const isShared = count.get(name)!.length > 1
    const column = `${name} (${labelOf(node.key).toLowerCase()})`
    const id = isShared ? (taken.has(column) ? `${column} ${node.value}` : column) : name
    taken.add(id)
    return id
  })
  return links
    .filter(({ value }) => value > 0)
    .map(({ source, target, value }) => ({ from: ids[source]!, to: ids[target]!, value }))
}
