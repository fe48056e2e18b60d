// The SQL of the time series of a team's events. Events that share their first and last bucket are merged before they are
// spread over the buckets between, because most events are within one bucket.
import type { EventGrouping, EventMetric } from '@pharos/contract/analysis'
import { peakBands } from '@pharos/contract/analysis'
import { sql } from 'kysely'
import type { Postgres } from '../db/postgres.ts'
import { overlapping } from './related-filter.store.ts'
import type { RelatedQuery } from './related-query.ts'
import type { Sql } from './related-sql.store.ts'

export type SeriesRow = {
  /** The group; null if there is no grouping. */
  readonly key: string | null
  /** 1 is the first. */
  readonly bucket: number
  readonly value: number | null
}

export type SeriesQuery = {
  readonly filter: RelatedQuery
  /** One more than there are buckets, in order. */
  readonly borders: readonly Date[]
  readonly now: Date
  readonly metric: EventMetric
  readonly groupBy: EventGrouping | undefined
}

const bands = Object.entries(peakBands).toReversed()
const bandOf = sql`case ${sql.join(
  bands
    .slice(0, -1)
    .map(([band, least]) => sql`when affected_bps >= ${sql.lit(least)} then ${sql.lit(band)}`),
  sql` `,
)} else ${sql.lit(bands.at(-1)![0])} end`

const keys: Readonly<Record<EventGrouping, Sql>> = {
  classification_key: sql`classification_key`,
  affected_network: sql`coalesce(affected_network::text, '')`,
  source_country: sql`coalesce((record || '}')::json ->> 'source_country', '')`,
  peak_bps: bandOf,
}

/** Lists the values of every series and bucket that is not empty. In a transaction: it may read many events. */
export function listSeriesRows(postgres: Postgres, teamId: number, query: SeriesQuery): Promise<SeriesRow[]> {
  const { filter, borders, now, metric, groupBy } = query
  if (metric === 'count' && groupBy === undefined && isAll(filter) && hasDays(borders))
    return listDayCounts(postgres, teamId, borders)
  const wanted = sql.raw(
    [
      'event_id, start_at, end_at, affected_bps, affected_pps, affected_network, classification_key, description, facet',
      filter.ongoing === null ? '' : ', span',
      groupBy === 'source_country' ? ', record' : '',
    ].join(''),
  )
  const { ctes, rows } = overlapping(teamId, filter, wanted)
  const key = groupBy === undefined ? sql`null::text` : keys[groupBy]
  const buckets = sql.lit(borders.length - 1)
  const placed = sql`
    placed as (
      select e.*, ${key} as key, least(coalesce(end_at, ${now}::timestamptz), ${now}::timestamptz) as until,
        greatest(width_bucket(start_at, (select at from borders)), 1) as first,
        least(width_bucket(coalesce(end_at, greatest(${now}::timestamptz, start_at)), (select at from borders)), ${buckets})
          as last
      from (${rows}) e)`
  const statement = sql<SeriesRow>`
    with ${sql.join([
      sql`borders as materialized (select ${borders}::timestamptz[] as at)`,
      ...ctes,
      placed,
      metric === 'sum_bytes' ? spreadBytes(teamId) : spread(metric),
    ])}
    select key, bucket, value::float8 as value from spread order by bucket`
  return postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
}

const isAll = ({
  flags,
  status,
  classes,
  sources,
  ongoing,
  bps,
  pps,
  network,
  description,
  search,
}: RelatedQuery): boolean =>
  [flags, status, classes, sources, ongoing, bps, pps, network, description, search].every(
    (value) => value === null,
  )

const dayMs = 86_400_000

/** Days of a time zone have 23 hours at least. */
const hasDays = (borders: readonly Date[]): boolean =>
  borders.at(-1)!.getTime() - borders[0]!.getTime() >= (borders.length - 1) * (dayMs - 3_600_000)

type CountRow = {
  readonly measure: 'start' | 'end'
  /** The day since 1970, or the index of a border. */
  readonly at: number
  readonly isBorder: boolean
  readonly events: number
}

/**
 * The counts of buckets of a day or more: events that started before the end of a bucket without those that ended before its start. The counts by
 * day of UTC are kept; of events between a border and the nearest midnight of UTC, for a zone such as Asia/Kathmandu up to 12 hours of each day, the
 * index is read.
 */
async function listDayCounts(
  postgres: Postgres,
  teamId: number,
  borders: readonly Date[],
): Promise<SeriesRow[]> {
  const days = borders.map((at) => Math.round(at.getTime() / dayMs))
  const ranges = borders.map((at, index) => {
    const midnight = new Date(days[index]! * dayMs)
    return at < midnight ? { from: at, until: midnight } : { from: midnight, until: at }
  })
  const [from, until] = [ranges.map((range) => range.from), ranges.map((range) => range.until)]
  const part = (measure: 'start' | 'end') => sql`
    select ${measure}, n::integer - 1, true, (
      select count(*) from team_events where team_id = ${teamId}
        and ${sql.ref(`${measure}_at`)} >= r.since and ${sql.ref(`${measure}_at`)} < r.until)
    from unnest(${from}::timestamptz[], ${until}::timestamptz[]) with ordinality as r (since, until, n) where r.since < r.until`
  const statement = sql<CountRow>`
    select measure, bucket as at, false as "isBorder", events from team_event_counts
    where team_id = ${teamId} and facet = 0 and measure in ('start', 'end') and bucket < ${days.at(-1)!}
    union all ${part('start')} union all ${part('end')}`
  const rows = await postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
  const before = (measure: CountRow['measure']): number[] => {
    const ofMeasure = rows.filter((row) => row.measure === measure)
    const byDay = ofMeasure.filter(({ isBorder }) => !isBorder).toSorted((a, b) => a.at - b.at)
    const parts = new Map(ofMeasure.filter(({ isBorder }) => isBorder).map(({ at, events }) => [at, events]))
    let [sum, next] = [0, 0]
    return borders.map((at, index) => {
      for (; next < byDay.length && byDay[next]!.at < days[index]!; next++) sum += Number(byDay[next]!.events)
      const sign = at.getTime() < days[index]! * dayMs ? -1 : 1
      return sum + sign * Number(parts.get(index) ?? 0)
    })
  }
  const [started, ended] = [before('start'), before('end')]
  return borders
    .slice(1)
    .map((_, index) => ({ key: null, bucket: index + 1, value: started[index + 1]! - ended[index]! }))
}

function spread(metric: Exclude<EventMetric, 'sum_bytes'>): Sql {
  const [merge, combine] = {
    count: [sql`count(*)`, sql`sum(merged)`],
    max_bps: [sql`max(affected_bps)`, sql`max(merged)`],
    max_pps: [sql`max(affected_pps)`, sql`max(merged)`],
  }[metric]
  return sql`
    spread as (
      select key, bucket, ${combine!} as value
      from (select key, first, last, ${merge!} as merged from placed group by 1, 2, 3) m
        cross join lateral generate_series(first, last) bucket
      group by 1, 2)`
}

/** Each bucket gets the share of its time; an event without duration is in one bucket. */
const spreadBytes = (teamId: number): Sql => sql`
  spread as (
    select key, bucket, round(sum(bytes * case when until > start_at
        then extract(epoch from least(until, b.at[bucket + 1]) - greatest(start_at, b.at[bucket]))
          / extract(epoch from until - start_at) else 1 end)) as value
    from (
      select p.*, (coalesce(t.parsed_data::json, d.parsed_data::json) ->> 'total_bytes')::numeric as bytes
      from placed p join team_events t on t.team_id = ${teamId} and t.event_id = p.event_id
        left join events d on d.id = p.event_id and t.parsed_data is null) p
      cross join borders b cross join lateral generate_series(first, last) bucket
    where bytes is not null group by 1, 2)`
