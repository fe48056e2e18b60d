// The traffic of a team as a graph: which values of the keys it flows through.
import type { FlowGraph, FlowGraphRequest, FlowNode } from '@pharos/contract/flow/flow'
import type { ReadingActor } from '../operation/operation.ts'
import { lastTime } from '../text/time.ts'
import { bucketsOf, windowOf } from '../timeseries/buckets.ts'
import { keyLabel, keyValue } from './flow-label.ts'
import { graphStatement, keysOf, flowTableOf, type FlowSelection, type GraphRow } from './flow-query.ts'
import { amountOf } from './flow-series.ts'
import { narrowingOf, withNarrowing } from './flow-narrowing.ts'
import { readSampling, runAll, runFlows, selectionOf, withAsNames, type FlowDeps } from './read-flows.ts'

const defaultLimit = 10
const weekMs = 7 * 86_400_000

/** Returns the graph of the team. Throws as `getFlowTimeseries`. */
export async function getFlowGraph(
  deps: FlowDeps,
  { actor }: ReadingActor,
  request: FlowGraphRequest,
): Promise<FlowGraph> {
  const now = deps.now()
  const selection = await selectionOf(deps, actor, request)
  const { start, end } = bucketsOf({ ...windowOf(request.start, request.end, 'body') }, now, 'body')
  const seconds = end.getTime() - start.getTime() >= weekMs ? 3600 : 60
  const source = flowTableOf(keysOf(selection), { start, seconds, borders: [] }, deps.retention, now)
  const stepMs = Math.max(source.step, 1) * 1000
  const endMs = Math.ceil(Math.max(end.getTime(), start.getTime() + 1) / stepMs) * stepMs
  const window = {
    start: new Date(Math.floor(start.getTime() / stepMs) * stepMs),
    end: new Date(Math.min(endMs, lastTime.getTime())),
  }
  const [rows, sampling] = await withNarrowing(
    runAll([
      runFlows<GraphRow>(deps, graphStatement(selection, source, window, request.limit ?? defaultLimit)),
      readSampling(deps, selection.scope, start, end, now),
    ]),
    () => narrowingOf(keysOf(selection), source, { start, end, seconds }),
  )
  const shownMs = Math.max(Math.min(window.end.getTime(), now.getTime()) - window.start.getTime(), 1000)
  return {
    start: window.start.toISOString(),
    end: window.end.toISOString(),
    unit: selection.metric,
    ...graphOf(rows, await withAsNames(deps, selection, rows), (sum) =>
      amountOf(sum, selection.metric, shownMs / 1000),
    ),
    ...sampling,
    resolution: source.step,
    partial: sampling.partial || source.isCut,
  }
}

type Column = Map<string | null, number>

/** Nodes column by column, each from the largest with all others at the end, and links between adjacent columns. */
function graphOf(
  rows: readonly GraphRow[],
  { groupBy, names }: FlowSelection,
  amount: (sum: number) => number,
): Pick<FlowGraph, 'nodes' | 'links'> {
  const columns: Column[] = groupBy.map(() => new Map())
  const links = groupBy.slice(1).map(() => new Map<string, number>())
  const valueAt = (row: GraphRow, at: number): string | null =>
    row[`h${at}`] ? keyValue(groupBy[at]!, String(row[`k${at}`]), names) : null
  for (const row of rows) {
    const values = groupBy.map((_, at) => valueAt(row, at))
    values.forEach((value, at) => columns[at]!.set(value, (columns[at]!.get(value) ?? 0) + row.value))
    links.forEach((sums, at) => {
      const pair = JSON.stringify([values[at], values[at + 1]])
      sums.set(pair, (sums.get(pair) ?? 0) + row.value)
    })
  }
  const nodes: FlowNode[] = []
  const places = columns.map((column, at) => {
    const key = groupBy[at]!
    const ordered = [...column].toSorted(
      ([a, x], [b, y]) =>
        Number(a === null) - Number(b === null) || y - x || (String(a) < String(b) ? -1 : 1),
    )
    return new Map(
      ordered.map(([value, sum]) => {
        const label = value === null ? 'Other' : keyLabel(key, value, names)
        return [value, nodes.push({ key, value, label, total: amount(sum) }) - 1]
      }),
    )
  })
  const drawn = links.flatMap((sums, at) =>
    [...sums].map(([pair, sum]) => {
      const [from, to] = JSON.parse(pair) as [string | null, string | null]
      return { source: places[at]!.get(from)!, target: places[at + 1]!.get(to)!, value: amount(sum) }
    }),
  )
  return {
    nodes,
    links: drawn.toSorted((a, b) => b.value - a.value || a.source - b.source || a.target - b.target),
  }
}
