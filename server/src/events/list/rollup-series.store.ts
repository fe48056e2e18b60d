// The SQL of time series from the rollup, completed from the events by span: with the number of events ongoing at the
// start, and with the peaks of long events.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { runningAt } from './event-walk.store.ts'
import { all, type Sql } from './event-sql.store.ts'
import { rollupRanges, type RollupRange, type RollupRow } from './rollup-series.ts'
import type { EventSeriesQuery } from './series-query.ts'

export function listRollupRows(
  postgres: Postgres,
  teamId: number,
  { filter, borders, metric, groupBy }: EventSeriesQuery,
): Promise<RollupRow[]> {
  const ranges = rollupRanges(borders)
  const isOfClass = filter.classes && sql`classification_key = any(${filter.classes}::text[])`
  const key = groupBy === undefined ? sql`null::text` : sql`classification_key`
  const figures =
    metric === 'count'
      ? sql`sum(started)::integer as started, sum(ended)::integer as ended, null::bigint as value`
      : sql`0 as started, 0 as ended, max(${sql.ref(metric)}) as value`
  const each = (of: 'length' | 'from' | 'until' | 'bucket') =>
    sql`${ranges.map((range) => range[of])}::integer[]`
  // Each range is one lookup in the index, and is added there: a year of a large team has 35,000 rows. Times are whole numbers, since
  // these are sent and parsed faster.
  const hours = sql`
    select h.key, r.bucket, r.bucket as last, h.started, h.ended, h.value
    from unnest(${each('length')}, ${each('from')}, ${each('until')}, ${each('bucket')}) as r (length, since, until, bucket)
      cross join lateral (
        select ${key} as key, ${figures}
        from team_event_hours
        where ${all(
          sql`team_id = ${teamId} and minutes = (r.length * 15)::smallint
            and at >= to_timestamp(r.since * 900.0::float8) and at < to_timestamp(r.until * 900.0::float8)`,
          isOfClass,
        )}
        ${groupBy === undefined ? sql`having count(*) > 0` : sql`group by 1`}) h`
  const rest =
    metric === 'count'
      ? runningRows(teamId, borders[0]!, key, isOfClass)
      : longRows(teamId, borders, key, isOfClass, {
          rate: metric === 'max_pps' ? 'affected_pps' : 'affected_bps',
          haveBlocks: haveBlocks(ranges, borders.length - 1),
        })
  return postgres.readInTeam(teamId, sql<RollupRow>`${hours} union all ${rest}`)
}

/** Whether each bucket has a block of six hours. */
const haveBlocks = (ranges: readonly RollupRange[], buckets: number): boolean =>
  new Set(ranges.filter(({ length }) => length === 24).map(({ bucket }) => bucket)).size === buckets

function runningRows(teamId: number, start: Date, key: Sql, isOfClass: Sql | null): Sql {
  const scope = { teamId, start, end: null, byFacet: false }
  return sql`
    select ${key}, 0, 0, count(*)::integer, 0, null
    from (${runningAt(scope, sql`classification_key`, isOfClass)}) e group by 1`
}

/**
 * Events that are ongoing, or too long for the rollup: more than 30 days if each bucket has a block of six hours, which
 * has the peaks of all shorter events that cover the bucket. A span of 17 includes some events of more than a day, 22
 * some of more than 30 days.
 */
function longRows(
  teamId: number,
  borders: readonly Date[],
  key: Sql,
  isOfClass: Sql | null,
  { rate, haveBlocks }: { readonly rate: 'affected_bps' | 'affected_pps'; readonly haveBlocks: boolean },
): Sql {
  const [span, longest] = haveBlocks ? [22, '720 hours'] : [17, '24 hours']
  const at = sql`${borders}::timestamptz[]`
  const buckets = sql.lit(borders.length - 1)
  const bucketOf = (time: Sql) => sql`width_bucket(${time}, ${at})`
  return sql`
    select ${key}, ${bucketOf(sql`start_at`)}, least(coalesce(${bucketOf(sql`end_at`)}, ${buckets}), ${buckets}), 0, 0,
      max(${sql.ref(rate)})
    from team_events where ${all(
      sql`team_id = ${teamId} and span >= ${sql.lit(span)} and start_at < ${borders.at(-1)!}::timestamptz
        and (end_at >= ${borders[0]!}::timestamptz or end_at is null)
        and (end_at - start_at > ${sql.lit(longest)}::interval or end_at is null)`,
      isOfClass,
    )}
    group by 1, 2, 3`
}
