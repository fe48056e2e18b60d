// The time series of a team's events: how many there were, or how large, in each bucket that they overlap.
import {
  peakBands,
  type EventGrouping,
  type EventMetric,
  type getRelatedTimeseriesRoute,
  type PeakBand,
} from '@pharos/contract/events/event'
import type { getIncidentTimeseriesRoute } from '@pharos/contract/events/incident'
import { classificationLabel } from '@pharos/contract/events/classification'
import type { QueryOf } from '@pharos/contract/route'
import type { Series, Timeseries } from '@pharos/contract/timeseries'
import type { Postgres } from '../../db/postgres.ts'
import { etagOf } from '../../operation/etag.ts'
import type { ReadingActor } from '../../operation/operation.ts'
import { invalid } from '../../runtime/error.ts'
import { bucketsOf, seriesFiguresOf } from '../../timeseries/buckets.ts'
import { listSeriesRows } from './event-timeseries.store.ts'
import { parseEventQuery } from './event-query.ts'
import { isInRollup, rollupSeries } from './rollup-series.ts'
import { listRollupRows } from './rollup-series.store.ts'
import type { EventSeriesQuery, EventSeriesRow } from './series-query.ts'

export type TimeseriesDeps = { readonly postgres: Postgres; readonly now: () => Date }
type Query = QueryOf<typeof getRelatedTimeseriesRoute>

const dayMs = 86_400_000
/**
 * Limit for series that are read event by event: bytes are in the details, and there are as many networks as events.
 */
const daysMax = 31

const units: Readonly<Record<EventMetric, string>> = {
  count: 'events',
  max_bps: 'bps',
  max_pps: 'pps',
  sum_bytes: 'bytes',
}

/** Returns the series of events of the actor's team. Throws `invalid` for too many buckets or an unknown time zone. */
export const getRelatedTimeseries = (
  deps: TimeseriesDeps,
  { actor }: ReadingActor,
  query: Query,
): Promise<{ body: Timeseries; etag: string }> => readSeries(deps, actor.teamId, 'events', query)

/** As `getRelatedTimeseries`, of incidents. Rates have no series of false positives. */
export const getIncidentTimeseries = (
  deps: TimeseriesDeps,
  { actor }: ReadingActor,
  query: QueryOf<typeof getIncidentTimeseriesRoute>,
): Promise<{ body: Timeseries; etag: string }> =>
  readSeries(
    deps,
    actor.teamId,
    'incidents',
    query.metric === 'count' ? query : { ...query, false_positive: query.false_positive ?? false },
  )

async function readSeries(
  { postgres, now: clock }: TimeseriesDeps,
  teamId: number,
  of: EventSeriesQuery['of'],
  query: Query & { readonly false_positive?: boolean },
): Promise<{ body: Timeseries; etag: string }> {
  const { interval, points, timezone, metric, group_by: groupBy, limit, ...filters } = query
  const now = clock()
  const filter = parseEventQuery({ ...filters, ordering: 'id', limit: 1, offset: 0 })
  const window = { start: filter.start, end: filter.end, interval, points, timezone }
  const { start, end, borders, seconds } = bucketsOf(window, now)
  const isLimited = metric === 'sum_bytes' || groupBy === 'affected_network'
  if (isLimited && end.getTime() - start.getTime() > daysMax * dayMs)
    throw invalid(['query', 'end'], 'longSeries')
  const covered = { ...filter, start: borders[0]!, end: new Date(borders.at(-1)!.getTime() - 1) }
  const rows = await seriesRows(postgres, teamId, { of, filter: covered, borders, now, metric, groupBy })
  const body = {
    start: borders[0]!.toISOString(),
    end: borders.at(-1)!.toISOString(),
    interval: seconds,
    timestamps: borders.slice(0, -1).map((at) => at.toISOString()),
    series: seriesOf(rows, borders, now, metric, groupBy, limit).map((series) =>
      metric === 'count' ? { ...series, unit: of } : series,
    ),
  }
  return { body, etag: etagOf(body) }
}

async function seriesRows(
  postgres: Postgres,
  teamId: number,
  query: EventSeriesQuery,
): Promise<EventSeriesRow[]> {
  if (!isInRollup(query)) return listSeriesRows(postgres, teamId, query)
  const rows = await listRollupRows(postgres, teamId, query)
  return rollupSeries(rows, query.borders.length - 1, query.metric)
}

/**
 * One series per group, largest first; groups after the limit are combined. Without a grouping there is exactly one
 * series.
 */
function seriesOf(
  rows: readonly EventSeriesRow[],
  borders: readonly Date[],
  now: Date,
  metric: EventMetric,
  groupBy: EventGrouping | undefined,
  limit: number,
): Series[] {
  const merge = metric === 'count' || metric === 'sum_bytes' ? add : larger
  const known = borders.slice(0, -1).map((at) => at <= now)
  const empty = (): (number | null)[] => known.map((is) => (is && metric === 'count' ? 0 : null))
  const groups = new Map<string | null, (number | null)[]>(firstKeys(groupBy).map((key) => [key, empty()]))
  for (const { key, bucket, value } of rows) {
    if (!groups.has(key)) groups.set(key, empty())
    const values = groups.get(key)!
    if (known[bucket - 1]) values[bucket - 1] = value
  }
  const sizes = new Map([...groups].map(([key, values]) => [key, values.reduce(merge, null) ?? 0]))
  const ordered =
    groupBy === 'peak_bps'
      ? [...groups]
      : [...groups].toSorted(([a], [b]) => sizes.get(b)! - sizes.get(a)! || compare(a, b))
  const shown = ordered.slice(0, limit).map(([key, values]) => seriesOn(groupBy, key, values, metric))
  const rest = ordered.slice(limit).map(([, values]) => values)
  if (rest.length === 0) return shown
  const others = rest.reduce((sum, values) => sum.map((value, at) => merge(value, values[at]!)))
  return [...shown, seriesOn(groupBy, null, others, metric)]
}

const add = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b)
const larger = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b)
const compare = (a: string | null, b: string | null): number => ((a ?? '') < (b ?? '') ? -1 : 1)

/** Series that are shown even if they are empty. */
function firstKeys(groupBy: EventGrouping | undefined): (string | null)[] {
  if (groupBy === undefined) return [null]
  return groupBy === 'peak_bps' ? Object.keys(peakBands) : []
}

function seriesOn(
  groupBy: EventGrouping | undefined,
  key: string | null,
  values: readonly (number | null)[],
  metric: EventMetric,
): Series {
  return {
    key: groupBy === undefined ? {} : { [groupBy]: key },
    label: labelOf(groupBy, key),
    unit: units[metric],
    values: [...values],
    ...seriesFiguresOf(values),
  }
}

const bandLabels: Readonly<Record<PeakBand, string>> = {
  below_1g: 'Below 1 Gbit/s',
  from_1g: '1 to 10 Gbit/s',
  from_10g: '10 to 100 Gbit/s',
  from_100g: '100 Gbit/s and more',
}

function labelOf(groupBy: EventGrouping | undefined, key: string | null): string {
  if (groupBy === undefined) return 'All'
  if (key === null) return 'Other'
  if (key === '') return 'Unknown'
  if (groupBy === 'peak_bps') return bandLabels[key as PeakBand]
  return groupBy === 'classification_key' ? classificationLabel(key) : key
}
