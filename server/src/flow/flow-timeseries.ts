// The traffic of a team over time, as series and as CSV.
import { csvLine } from '@pharos/contract/csv'
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { FlowMetric, FlowTimeseries, FlowTimeseriesRequest } from '@pharos/contract/flow/flow'
import { Temporal } from 'temporal-polyfill'
import type { ReadingActor } from '../operation/operation.ts'
import { bucketsOf, keptBucketsOf, windowOf, type Buckets } from '../timeseries/buckets.ts'
import {
  keptSince,
  keysOf,
  knownBucketsStatement,
  seriesStatement,
  flowTableOf,
  type FlowRetention,
  type FlowSelection,
  type FlowSource,
  type FlowSeriesQuery,
  type FlowSeriesRow,
} from './flow-query.ts'
import { seriesGroupsOf, orderedGroups, sameGroups, seriesOf, type ReadRows } from './flow-series.ts'
import { narrowingOf, withNarrowing } from './flow-narrowing.ts'
import { readSampling, runAll, runFlows, selectionOf, withAsNames, type FlowDeps } from './read-flows.ts'

const defaultLimit = 10
const minuteSeconds = 60

/** Returns the series of the team. Throws `invalid`, `unavailable` without the store, and `query_too_expensive`. */
export const getFlowTimeseries = async (
  deps: FlowDeps,
  operation: ReadingActor,
  request: FlowTimeseriesRequest,
): Promise<FlowTimeseries> => (await readTimeseries(deps, operation, request)).answer

/** Returns the same as CSV. */
export async function exportFlowTimeseries(
  deps: FlowDeps,
  operation: ReadingActor,
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
    bytes: Buffer.from([head, ...lines].map((line) => `${csvLine(line)}\n`).join('')),
    mediaType: 'text/csv',
    filename: `flows-${answer.start.slice(0, 10)}.csv`,
  }
}

type Read = {
  readonly answer: FlowTimeseries
  readonly metric: FlowMetric
  readonly groupBy: readonly FlowKey[]
}

async function readTimeseries(
  deps: FlowDeps,
  { actor }: ReadingActor,
  request: FlowTimeseriesRequest,
): Promise<Read> {
  const { limit = defaultLimit, limit_by: limitBy = 'avg', include_other: includeOther = true } = request
  const now = deps.now()
  const selection = await selectionOf(deps, actor, request)
  const { source, buckets } = bucketsFor(selection, request, deps.retention, now)
  const { borders, seconds } = buckets
  const query: FlowSeriesQuery = { selection, source, borders, seconds, limit, limitBy, includeOther, now }
  const previous =
    request.compare === 'previous_period' ? previousBorders(buckets, request.timezone) : undefined
  const [current, before, sampling] = await withNarrowing(
    runAll([
      readSeries(deps, query, borders),
      previous && readSeries(deps, { ...query, previous }, previous),
      readSampling(deps, selection.scope, borders[0]!, borders.at(-1)!, now),
    ]),
    () => narrowingOf(keysOf(selection), source, { start: borders[0]!, end: borders.at(-1)!, seconds }),
  )
  const named = await withAsNames(deps, selection, current!.rows)
  const shape = { selection: named, metric: selection.metric, seconds, now }
  const groups = orderedGroups(
    seriesGroupsOf(current!.rows, selection),
    borders,
    current!.known,
    shape,
    limitBy,
  )
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

const bucketTimes = (borders: readonly Date[]) => ({
  start: borders[0]!.toISOString(),
  end: borders.at(-1)!.toISOString(),
  timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
})

function bucketsFor(
  selection: FlowSelection,
  { start, end, interval, points, timezone }: FlowTimeseriesRequest,
  retention: FlowRetention,
  now: Date,
): { readonly source: FlowSource; readonly buckets: Buckets } {
  const window = { ...windowOf(start, end, 'body'), interval, points, timezone }
  // Exporters report a flow about once a minute: shorter buckets only on request.
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
    (asked) => (source = flowTableOf(keys, asked, retention, now)).step,
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

async function readSeries(
  deps: FlowDeps,
  query: FlowSeriesQuery,
  borders: readonly Date[],
): Promise<ReadRows> {
  const { selection, source, seconds, previous, now } = query
  const prefix = previous ? 'p' : ''
  const [rows, buckets] = await runAll([
    runFlows<FlowSeriesRow>(deps, seriesStatement(query)),
    runFlows<{ bucket: number }>(
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
