// The SQL of time series from the rollup. It is completed from the events, by span: with the number of those that were ongoing at the
// start, and with the peaks of long ones.
import { sql } from 'kysely'
import type { Postgres } from '../db/postgres.ts'
import { runningAt } from './related-segment.store.ts'
import { all, type Sql } from './related-sql.store.ts'
import { rollupRanges, type RollupRow } from './rollup-series.ts'
import type { SeriesQuery } from './series-query.ts'

export function listRollupRows(
  postgres: Postgres,
  teamId: number,
  { filter, borders, metric, groupBy }: SeriesQuery,
): Promise<RollupRow[]> {
  const ranges = rollupRanges(borders)
  const isOfClass = filter.classes && sql`classification_key = any(${filter.classes}::text[])`
  const key = groupBy === undefined ? sql`null::text` : sql`classification_key`
  const value = metric === 'max_pps' ? sql.ref('max_pps') : sql.ref('max_bps')
  // Each range is one lookup in the index, and is added there: a year of a large team has 70,000 rows.
  const hours = sql`
    select h.key, r.bucket, r.bucket as last, h.started, h.ended, h.value
    from unnest(${ranges.map(({ minutes }) => minutes)}::smallint[], ${ranges.map(({ from }) => from)}::timestamptz[],
        ${ranges.map(({ until }) => until)}::timestamptz[], ${ranges.map(({ bucket }) => bucket)}::integer[])
        as r (minutes, since, until, bucket)
      cross join lateral (
        select ${key} as key, sum(started)::integer as started, sum(ended)::integer as ended, max(${value}) as value
        from team_event_hours
        where ${all(sql`team_id = ${teamId} and minutes = r.minutes and at >= r.since and at < r.until`, isOfClass)}
        ${groupBy === undefined ? sql`having count(*) > 0` : sql`group by 1`}) h`
  const rest =
    metric === 'count'
      ? runningRows(teamId, borders[0]!, key, isOfClass)
      : longRows(teamId, borders, key, isOfClass, metric === 'max_pps' ? 'affected_pps' : 'affected_bps')
  return postgres.readInTeam(teamId, sql<RollupRow>`${hours} union all ${rest}`)
}

function runningRows(teamId: number, start: Date, key: Sql, isOfClass: Sql | null): Sql {
  const scope = { teamId, start, end: null, byFacet: false }
  return sql`
    select ${key}, 0, 0, count(*)::integer, 0, null
    from (${runningAt(scope, sql`classification_key`, isOfClass)}) e group by 1`
}

/** Those that have not ended, or lasted more than a day: of these some have a span of 17. */
function longRows(
  teamId: number,
  borders: readonly Date[],
  key: Sql,
  isOfClass: Sql | null,
  rate: 'affected_bps' | 'affected_pps',
): Sql {
  const at = sql`${borders}::timestamptz[]`
  const buckets = sql.lit(borders.length - 1)
  const bucketOf = (time: Sql) => sql`width_bucket(${time}, ${at})`
  return sql`
    select ${key}, ${bucketOf(sql`start_at`)}, least(coalesce(${bucketOf(sql`end_at`)}, ${buckets}), ${buckets}), 0, 0,
      max(${sql.ref(rate)})
    from team_events where ${all(
      sql`team_id = ${teamId} and span >= 17 and start_at < ${borders.at(-1)!}::timestamptz
        and (end_at >= ${borders[0]!}::timestamptz or end_at is null)
        and (end_at - start_at > interval '24 hours' or end_at is null)`,
      isOfClass,
    )}
    group by 1, 2, 3`
}
