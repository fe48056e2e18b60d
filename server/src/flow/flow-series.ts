// Rows of the flow store as series. Pure.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { FlowMetric } from '@pharos/contract/flow/flow'
import type { Series } from '@pharos/contract/timeseries'
import { seriesFiguresOf } from '../timeseries/buckets.ts'
import { keyLabel, keyValue } from './flow-label.ts'
import type { FlowNames } from './flow-label.ts'
import type { FlowSelection, FlowSeriesRow } from './flow-query.ts'

/** Flows of the current bucket are too few for a rate before. */
const rateMsMin = 10_000

/** `known`: whether flows of the team were received in the bucket, and are still kept. */
export type ReadRows = { readonly rows: readonly FlowSeriesRow[]; readonly known: readonly boolean[] }

/** The values of one series; `keys` is null for all others together. */
export type SeriesGroup = {
  readonly keys: readonly string[] | null
  readonly sums: ReadonlyMap<number, number>
}

export type Shape = {
  readonly selection: FlowSelection
  readonly metric: FlowMetric
  readonly seconds: number
  readonly now: Date
}

/** Two stored values may be one value, such as the prefixes that are gone. */
export function seriesGroupsOf(
  rows: readonly FlowSeriesRow[],
  { groupBy, names }: FlowSelection,
): Map<string, SeriesGroup> {
  const groups = new Map<string, { keys: readonly string[] | null; sums: Map<number, number> }>()
  for (const { bucket, top, value, ...stored } of rows) {
    const keys = top
      ? groupBy.map((key, at) => keyValue(key, stored[`k${at}` as keyof typeof stored] ?? '', names))
      : null
    const id = JSON.stringify(keys)
    if (!groups.has(id)) groups.set(id, { keys, sums: new Map() })
    const { sums } = groups.get(id)!
    sums.set(bucket, (sums.get(bucket) ?? 0) + value)
  }
  if (groupBy.length === 0 && groups.size === 0) groups.set('[]', { keys: [], sums: new Map() })
  return groups
}

export function orderedGroups(
  groups: ReadonlyMap<string, SeriesGroup>,
  borders: readonly Date[],
  known: readonly boolean[],
  shape: Shape,
  limitBy: 'avg' | 'max' | 'last' | 'p95',
): SeriesGroup[] {
  const sizes = new Map([...groups.values()].map((group) => [group, sizeOf(group)]))
  function sizeOf(group: SeriesGroup): number {
    return seriesFiguresOf(valuesOf(group, borders, known, shape))[limitBy] ?? 0
  }
  const shown = [...groups.values()].filter(({ keys }) => keys !== null)
  const others = [...groups.values()].filter(({ keys }) => keys === null)
  return [...shown.toSorted((a, b) => sizes.get(b)! - sizes.get(a)! || compareKeys(a, b)), ...others]
}

const compareKeys = (a: SeriesGroup, b: SeriesGroup): number =>
  JSON.stringify(a.keys) < JSON.stringify(b.keys) ? -1 : 1

/** A rate is over the time of the bucket, of the current one over its time until now. */
function valuesOf(
  { sums }: SeriesGroup,
  borders: readonly Date[],
  known: readonly boolean[],
  { metric, now }: Shape,
): (number | null)[] {
  return known.map((isKnown, bucket) => {
    if (!isKnown) return null
    const sum = sums.get(bucket) ?? 0
    const [from, until] = [borders[bucket]!.getTime(), borders[bucket + 1]!.getTime()]
    const passedMs = Math.min(until, now.getTime()) - from
    if (passedMs < Math.min(rateMsMin, until - from)) return isRate(metric) ? null : sum
    return amountOf(sum, metric, passedMs / 1000)
  })
}

const isRate = (metric: FlowMetric): boolean => metric === 'bps' || metric === 'pps'

export function amountOf(sum: number, metric: FlowMetric, seconds: number): number {
  if (metric === 'bps') return Math.round((sum * 8) / seconds)
  return metric === 'pps' ? Math.round((sum / seconds) * 1000) / 1000 : sum
}

export function seriesOf(
  group: SeriesGroup,
  borders: readonly Date[],
  known: readonly boolean[],
  shape: Shape,
): Series {
  const { groupBy, names } = shape.selection
  const { keys } = group
  const values = valuesOf(group, borders, known, shape)
  return {
    key: Object.fromEntries(groupBy.map((key, at) => [key, keys?.[at] ?? null])),
    label: labelOf(groupBy, keys, names),
    unit: shape.metric,
    values,
    ...seriesFiguresOf(values),
  }
}

function labelOf(groupBy: readonly FlowKey[], keys: readonly string[] | null, names: FlowNames): string {
  if (keys === null) return 'Other'
  return groupBy.length === 0 ? 'All' : groupBy.map((key, at) => keyLabel(key, keys[at]!, names)).join(' · ')
}

/** The series of the groups of the current window, in their order; a group without rows has zeros. */
export function sameGroups(
  groups: readonly SeriesGroup[],
  { rows, known }: ReadRows,
  borders: readonly Date[],
  shape: Shape,
): Series[] {
  const before = seriesGroupsOf(rows, shape.selection)
  return groups.map(({ keys }) =>
    seriesOf(before.get(JSON.stringify(keys)) ?? { keys, sums: new Map() }, borders, known, shape),
  )
}
