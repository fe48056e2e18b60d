// The SQL of the time series of a team's events that the rollup does not answer (see rollup-series.ts). Events that share their first and last bucket are merged before they are
// spread over the buckets between, because most events are within one bucket.
import type { EventGrouping, EventMetric } from '@pharos/contract/events/event'
import { peakBands } from '@pharos/contract/events/event'
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { incidentsIn } from './incident-list.store.ts'
import { overlapping } from './event-filter.store.ts'
import type { Sql } from './event-sql.store.ts'
import type { EventSeriesQuery, EventSeriesRow } from './series-query.ts'

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
export function listSeriesRows(
  postgres: Postgres,
  teamId: number,
  query: EventSeriesQuery,
): Promise<EventSeriesRow[]> {
  const { of, filter, borders, now, metric, groupBy } = query
  const wanted = sql.raw(
    [
      'event_id, start_at, end_at, affected_bps, affected_pps, affected_network, classification_key, description, facet',
      filter.ongoing === null ? '' : ', span',
      groupBy === 'source_country' ? ', record' : '',
    ].join(''),
  )
  const { ctes, rows } =
    of === 'incidents' ? incidentsIn(teamId, filter) : overlapping(teamId, filter, wanted)
  const key = groupBy === undefined ? sql`null::text` : keys[groupBy]
  const buckets = sql.lit(borders.length - 1)
  const placed = sql`
    placed as (
      select e.*, ${key} as key, least(coalesce(end_at, ${now}::timestamptz), ${now}::timestamptz) as until,
        greatest(width_bucket(start_at, (select at from borders)), 1) as first,
        least(width_bucket(coalesce(end_at, greatest(${now}::timestamptz, start_at)), (select at from borders)), ${buckets})
          as last
      from (${rows}) e)`
  const statement = sql<EventSeriesRow>`
    with ${sql.join([
      sql`borders as materialized (select ${borders}::timestamptz[] as at)`,
      ...ctes,
      placed,
      metric === 'sum_bytes' ? spreadBytes(teamId) : spread(metric),
    ])}
    select key, bucket, value::float8 as value from spread order by bucket`
  return postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
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
