// The traffic of a team over time, as series, as CSV, and as a graph.
import type { FlowKey } from '@pharos/contract/flow-key'
import type {
  FlowGraph,
  FlowGraphRequest,
  FlowMetric,
  FlowNode,
  FlowTimeseries,
  FlowTimeseriesRequest,
} from '@pharos/contract/flow'
import type { Series } from '@pharos/contract/timeseries'
import type { Db } from '../../db/postgres.ts'
import type { TeamReader } from '../../operation/operation.ts'
import { fail, invalid } from '../../runtime/error.ts'
import { bucketsOf, figuresOf, keptBucketsOf, windowOf, type Buckets } from '../../timeseries/buckets.ts'
import { listAsNames } from './as-name.store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { asnKeys, keyLabel, keyValue } from './flow-label.ts'
import type { FlowNames } from './flow-names.ts'
import { readFlowNames } from './flow-names.store.ts'
import {
  graphStatement,
  keptSince,
  keysOf,
  knownBucketsStatement,
  samplingStatement,
  seriesStatement,
  sourceOf,
  type FlowRetention,
  type FlowScope,
  type FlowSelection,
  type FlowSource,
  type GraphRow,
  type SamplingRow,
  type SeriesQuery,
  type SeriesRow,
  type Statement,
} from './flow-query.ts'
import type { FlowStore } from './flow-store.ts'

export type FlowDeps = {
  readonly db: Db
  readonly flowStore: FlowStore
  readonly retention: FlowRetention
  readonly now: () => Date
}

const defaultLimit = 10
const minuteSeconds = 60
/** Flows of the current bucket are too few for a rate before. */
const rateMsMin = 10_000

/** Returns the series of the team. Throws `invalid`, `unavailable` without the store, and `query_too_expensive`. */
export const getFlowTimeseries = async (
  deps: FlowDeps,
  operation: TeamReader,
  request: FlowTimeseriesRequest,
): Promise<FlowTimeseries> => (await readTimeseries(deps, operation, request)).answer

/** Returns the same as CSV. */
export async function exportFlowTimeseries(
  deps: FlowDeps,
  operation: TeamReader,
  request: FlowTimeseriesRequest,
): Promise<{ bytes: Buffer; mediaType: string; filename: string }> {
  const { answer, metric, groupBy } = await readTimeseries(deps, operation, request)
  const { previous } = answer
  const head = ['start', ...groupBy, 'label', metric, ...(previous ? [`previous_${metric}`] : [])]
  const lines = answer.timestamps.flatMap((at, bucket) =>
    answer.series.map(({ key, label, values }, index) => [
      at,
      ...groupBy.map((name) => key[name] ?? ''),
      label,
      values[bucket] ?? '',
      ...(previous ? [previous.series[index]!.values[bucket] ?? ''] : []),
    ]),
  )
  return {
    bytes: Buffer.from([head, ...lines].map((line) => `${line.map(csvField).join(',')}\n`).join('')),
    mediaType: 'text/csv',
    filename: `flows-${answer.start.slice(0, 10)}.csv`,
  }
}

const csvField = (value: string | number): string => {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

type Read = {
  readonly answer: FlowTimeseries
  readonly metric: FlowMetric
  readonly groupBy: readonly FlowKey[]
}

async function readTimeseries(
  deps: FlowDeps,
  { actor }: TeamReader,
  request: FlowTimeseriesRequest,
): Promise<Read> {
  const { limit = defaultLimit, limit_by: limitBy = 'avg', include_other: includeOther = true } = request
  const now = deps.now()
  const selection = await selectionOf(deps, actor, request)
  const { source, buckets } = bucketsFor(selection, request, deps.retention, now)
  const { borders, seconds } = buckets
  const query: SeriesQuery = { selection, source, borders, seconds, limit, limitBy, includeOther, now }
  const previous =
    request.compare === 'previous_period' ? previousBorders(buckets, request.timezone) : undefined
  const [current, before, sampling] = await runAll([
    readSeries(deps, query, borders),
    previous && readSeries(deps, { ...query, previous }, previous),
    readSampling(deps, selection.scope, borders[0]!, borders.at(-1)!, now),
  ])
  const named = await withAsNames(deps, selection, current!.rows)
  const shape = { selection: named, metric: selection.metric, seconds, now }
  const groups = orderedGroups(groupsOf(current!.rows, selection), borders, current!.known, shape, limitBy)
  const answer: FlowTimeseries = {
    ...bucketTimes(borders),
    interval: seconds,
    series: groups.map((group) => seriesOf(group, borders, current!.known, shape)),
    ...sampling,
    resolution: source.step,
    partial: sampling.partial || source.isCut,
    previous:
      previous && before
        ? { ...bucketTimes(previous), series: sameGroups(groups, before, previous, shape) }
        : null,
  }
  return { answer, metric: selection.metric, groupBy: selection.groupBy }
}

/** A failure of one is the failure of all; the others are awaited, so that none is unhandled. */
async function runAll<T extends readonly unknown[]>(
  all: [...T],
): Promise<{ [At in keyof T]: Awaited<T[At]> }> {
  const settled = await Promise.allSettled(all)
  const failed = settled.find((one): one is PromiseRejectedResult => one.status === 'rejected')
  if (failed) throw failed.reason
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as never
}

const bucketTimes = (borders: readonly Date[]) => ({
  start: borders[0]!.toISOString(),
  end: borders.at(-1)!.toISOString(),
  timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
})

type Selected = Pick<
  FlowTimeseriesRequest,
  'metric' | 'direction' | 'filters' | 'group_by' | 'team_id' | 'all_teams'
>

async function selectionOf(
  { db }: FlowDeps,
  actor: TeamReader['actor'],
  { metric = 'bps', direction = 'both', filters = [], group_by: groupBy = [], ...teams }: Selected,
): Promise<FlowSelection> {
  const scope = scopeOf(actor, teams)
  const names = await readFlowNames(db, scope, keysOf({ groupBy, filters }))
  return { scope, metric, direction, filters, groupBy, names }
}

/** With the names of the AS numbers in the rows. */
async function withAsNames(
  { db }: FlowDeps,
  selection: FlowSelection,
  rows: readonly object[],
): Promise<FlowSelection> {
  const places = selection.groupBy.flatMap((key, at) => (asnKeys.has(key) ? [`k${at}`] : []))
  if (places.length === 0) return selection
  const asns = new Set(
    rows.flatMap((row) => places.map((place) => String((row as Record<string, unknown>)[place]))),
  )
  return { ...selection, names: { ...selection.names, asns: await listAsNames(db, [...asns]) } }
}

/** The greatest number of the column. */
const teamIdMax = 2_147_483_647

/** The team of the caller. Staff may name another one, or all. */
function scopeOf(
  { isStaff, teamId }: TeamReader['actor'],
  { team_id: wanted, all_teams: all = false }: Pick<FlowTimeseriesRequest, 'team_id' | 'all_teams'>,
): FlowScope {
  if ((wanted === undefined || wanted === teamId) && !all) return { teamId }
  if (!isStaff) throw fail('forbidden', 'staffOnly')
  if (wanted !== undefined && all) throw invalid(['body', 'all_teams'], 'teamAndAll')
  if (wanted !== undefined && wanted > teamIdMax) throw invalid(['body', 'team_id'], 'teamOfAttachment')
  return { teamId: all ? 'all' : wanted! }
}

function bucketsFor(
  selection: FlowSelection,
  { start, end, interval, points, timezone }: FlowTimeseriesRequest,
  retention: FlowRetention,
  now: Date,
): { readonly source: FlowSource; readonly buckets: Buckets } {
  const window = { ...windowOf(start, end, 'body'), interval, points, timezone }
  // Exporters report a flow about once a minute: shorter buckets only if they are asked for.
  const usual = bucketsOf(window, now, 'body')
  const wanted =
    interval === undefined && usual.seconds < minuteSeconds
      ? { ...window, interval: minuteSeconds, points: undefined }
      : window
  const keys = keysOf(selection)
  let source: FlowSource | undefined
  const buckets = keptBucketsOf(
    wanted,
    now,
    (asked) => (source = sourceOf(keys, asked, retention, now)).step,
    'body',
  )
  return { source: source!, buckets }
}

/** The buckets of the window before: as many days of the time zone earlier if it consists of days, else as many seconds. */
function previousBorders({ borders, seconds }: Buckets, timezone = 'UTC'): Date[] {
  const count = borders.length - 1
  const shift = (at: Date): Date =>
    seconds % 86_400 === 0
      ? new Date(
          Temporal.Instant.fromEpochMilliseconds(at.getTime())
            .toZonedDateTimeISO(timezone)
            .subtract({ days: (count * seconds) / 86_400 }).epochMilliseconds,
        )
      : new Date(at.getTime() - (borders.at(-1)!.getTime() - borders[0]!.getTime()))
  return borders.map(shift)
}

const run = async <T>({ flowStore }: FlowDeps, { sql, params, limits }: Statement): Promise<T[]> => {
  try {
    return await flowStore.query<T>(sql, params, limits)
  } catch (error) {
    throw asFlowFailure(error)
  }
}

type ReadRows = { readonly rows: readonly SeriesRow[]; readonly known: readonly boolean[] }

/** `known`: whether flows of the team were received in the bucket, and are still kept. */
async function readSeries(deps: FlowDeps, query: SeriesQuery, borders: readonly Date[]): Promise<ReadRows> {
  const { selection, source, seconds, previous, now } = query
  const prefix = previous ? 'p' : ''
  const [rows, buckets] = await runAll([
    run<SeriesRow>(deps, seriesStatement(query)),
    run<{ bucket: number }>(
      deps,
      knownBucketsStatement(selection.scope, source, { borders, seconds }, prefix),
    ),
  ])
  const seen = new Set([...buckets.map(({ bucket }) => bucket), ...rows.map(({ bucket }) => bucket)])
  const { days, rollupDays } = deps.retention
  const kept = keptSince(source.step === 3600 ? rollupDays : days, now)
  return {
    rows,
    known: borders.slice(0, -1).map((at, bucket) => seen.has(bucket) && at >= kept && at <= now),
  }
}

async function readSampling(
  deps: FlowDeps,
  scope: FlowScope,
  from: Date,
  until: Date,
  now: Date,
): Promise<Pick<FlowTimeseries, 'sampled' | 'sampling_rate' | 'partial'>> {
  const [row] = await run<SamplingRow>(deps, samplingStatement(scope, from, until, now))
  if (!row || row.count === 0) return { sampled: true, sampling_rate: null, partial: false }
  const { least, most } = row
  return {
    sampled: least !== 1 || most !== 1,
    sampling_rate: least === most && least > 0 ? least : null,
    partial: least === 0,
  }
}

/** The values of one series; `keys` is null for all others together. */
type Group = { readonly keys: readonly string[] | null; readonly sums: ReadonlyMap<number, number> }

type Shape = {
  readonly selection: FlowSelection
  readonly metric: FlowMetric
  readonly seconds: number
  readonly now: Date
}

/** Two stored values may be one value, such as the prefixes that are gone. */
function groupsOf(rows: readonly SeriesRow[], { groupBy, names }: FlowSelection): Map<string, Group> {
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

function orderedGroups(
  groups: ReadonlyMap<string, Group>,
  borders: readonly Date[],
  known: readonly boolean[],
  shape: Shape,
  limitBy: 'avg' | 'max' | 'last' | 'p95',
): Group[] {
  const sizes = new Map([...groups.values()].map((group) => [group, sizeOf(group)]))
  function sizeOf(group: Group): number {
    return figuresOf(valuesOf(group, borders, known, shape))[limitBy] ?? 0
  }
  const shown = [...groups.values()].filter(({ keys }) => keys !== null)
  const others = [...groups.values()].filter(({ keys }) => keys === null)
  return [...shown.toSorted((a, b) => sizes.get(b)! - sizes.get(a)! || compareKeys(a, b)), ...others]
}

const compareKeys = (a: Group, b: Group): number => (JSON.stringify(a.keys) < JSON.stringify(b.keys) ? -1 : 1)

/** A rate is over the time of the bucket, of the current one over its time until now. */
function valuesOf(
  { sums }: Group,
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

function amountOf(sum: number, metric: FlowMetric, seconds: number): number {
  if (metric === 'bps') return Math.round((sum * 8) / seconds)
  return metric === 'pps' ? Math.round((sum / seconds) * 1000) / 1000 : sum
}

function seriesOf(group: Group, borders: readonly Date[], known: readonly boolean[], shape: Shape): Series {
  const { groupBy, names } = shape.selection
  const { keys } = group
  const values = valuesOf(group, borders, known, shape)
  return {
    key: Object.fromEntries(groupBy.map((key, at) => [key, keys?.[at] ?? null])),
    label: labelOf(groupBy, keys, names),
    unit: shape.metric,
    values,
    ...figuresOf(values),
  }
}

function labelOf(groupBy: readonly FlowKey[], keys: readonly string[] | null, names: FlowNames): string {
  if (keys === null) return 'Other'
  return groupBy.length === 0 ? 'All' : groupBy.map((key, at) => keyLabel(key, keys[at]!, names)).join(' · ')
}

/** The series of the groups of the current window, in their order; a group without rows has zeros. */
function sameGroups(
  groups: readonly Group[],
  { rows, known }: ReadRows,
  borders: readonly Date[],
  shape: Shape,
): Series[] {
  const before = groupsOf(rows, shape.selection)
  return groups.map(({ keys }) =>
    seriesOf(before.get(JSON.stringify(keys)) ?? { keys, sums: new Map() }, borders, known, shape),
  )
}

const weekMs = 7 * 86_400_000

/** Returns the graph of the team. Throws as `getFlowTimeseries`. */
export async function getFlowGraph(
  deps: FlowDeps,
  { actor }: TeamReader,
  request: FlowGraphRequest,
): Promise<FlowGraph> {
  const now = deps.now()
  const selection = await selectionOf(deps, actor, request)
  const { start, end } = bucketsOf({ ...windowOf(request.start, request.end, 'body') }, now, 'body')
  const seconds = end.getTime() - start.getTime() >= weekMs ? 3600 : minuteSeconds
  const source = sourceOf(keysOf(selection), { start, seconds, borders: [] }, deps.retention, now)
  const stepMs = Math.max(source.step, 1) * 1000
  const window = {
    start: new Date(Math.floor(start.getTime() / stepMs) * stepMs),
    end: new Date(Math.ceil(Math.max(end.getTime(), start.getTime() + 1) / stepMs) * stepMs),
  }
  const [rows, sampling] = await runAll([
    run<GraphRow>(deps, graphStatement(selection, source, window, request.limit ?? defaultLimit)),
    readSampling(deps, selection.scope, start, end, now),
  ])
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
