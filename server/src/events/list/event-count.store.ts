// Counts a team's events and finds the position of the n-th, from the counts that are kept with them
// (team_event_counts), without reading the events. SQL fragments.
import { sql } from 'kysely'
import { all, hasFacet, ofFacet, type EventScope, type Sql } from './event-sql.store.ts'

const sum = sql`coalesce(sum(events), 0)::bigint`
/** Events that have not ended are in no bucket of `end` before this one. */
const notEnded = 2_147_483_647
const dayMs = 86_400_000

/**
 * The counts of the scope's facets together; `where` names the measure and its buckets. `offset 0` makes it one index
 * lookup per facet: joined, PostgreSQL may compare every count with every facet.
 */
function countsOf({ teamId, byFacet }: EventScope, wanted: Sql, where: Sql): Sql {
  return byFacet
    ? sql`select ${wanted} from facets f cross join lateral (select bucket, events from team_event_counts
        where team_id = ${teamId} and facet = f.id and ${where} offset 0) c`
    : sql`select ${wanted} from team_event_counts where team_id = ${teamId} and facet = 0 and ${where}`
}

/** Counts the events that started before the window's end, without events that ended before its start. */
export function countOfScope(scope: EventScope): Sql {
  const { start, end } = scope
  const started =
    end === null
      ? sql`(${countsOf(scope, sum, sql`measure = 'all'`)})`
      : countUntil(scope, 'start', end, true)
  return start === null ? started : sql`(${started} - ${countUntil(scope, 'end', start, false)})`
}

/**
 * Counts the events that started (or ended) up to then: blocks of 64 days and the days after them from the counts, the
 * partial day from its index.
 */
export function countUntil(scope: EventScope, measure: 'start' | 'end', at: Date, inclusive: boolean): Sql {
  const { teamId, byFacet } = scope
  const column = sql.raw(measure === 'start' ? 'start_at' : 'end_at')
  // Computed here: under row-level security, only leakproof conditions can use an index, and coalesce() is not
  // leakproof.
  const day = Math.floor(at.getTime() / dayMs)
  const midnight = sql`${new Date(day * dayMs)}::timestamptz`
  const operator = inclusive ? sql`<=` : sql`<`
  const within = sql`${column} >= ${midnight} and ${column} ${operator} ${at}::timestamptz`
  // The index by facet is ordered by start; the index by end includes the facet.
  const ofDay =
    measure === 'start' && byFacet
      ? sql`select count(*) from facets f cross join lateral (select from team_events
          where team_id = ${teamId} and ${ofFacet(midnight, sql`${at}::timestamptz`, operator)} offset 0) e`
      : sql`select count(*) from team_events where ${all(sql`team_id = ${teamId}`, within, hasFacet(scope))}`
  const ofDays = (name: string, buckets: Sql) =>
    sql`(${countsOf(scope, sum, sql`measure = ${name} and ${buckets}`)})`
  return sql`(
    ${ofDays(`${measure}_block`, sql`bucket < ${Math.floor(day / 64)}::integer`)}
    + ${ofDays(measure, sql`bucket >= ${Math.floor(day / 64) * 64}::integer and bucket < ${day}::integer`)}
    + (${ofDay}))`
}

/** Counts the events whose peak was at least that: the steps above from the counts, the partial step from its index. */
export function countFrom({ teamId }: EventScope, measure: 'bps' | 'pps', least: number): Sql {
  const column = sql.raw(`affected_${measure}`)
  return sql`(
    (select ${sum} from team_event_counts
      where team_id = ${teamId} and facet = 0 and measure = ${measure} and bucket > rate_bucket(${least}::bigint))
    + (select count(*) from team_events where team_id = ${teamId} and ${column} >= ${least}::bigint
        and ${column} < (select bucket_rate(rate_bucket(${least}::bigint) + 1))))`
}

/** Counts the events that have ended. */
export function countEnded(scope: EventScope): Sql {
  return sql`(${countsOf(scope, sum, sql`measure = 'end_block' and bucket < ${sql.lit(notEnded)} / 64`)})`
}

/** A page by its position among all events. */
export type PagePosition = {
  readonly scope: EventScope
  readonly isDescending: boolean
  readonly offset: Sql
  readonly limit: number
}

/**
 * CTE `found`, one row: the page's events started (or ended) on the days `first` to `last`, and `skip` events of these
 * days precede the page. Its columns are null if the page is past the end.
 */
export function findDays(position: PagePosition, measure: 'start' | 'end'): Sql[] {
  const over = measure === 'end' ? sql`bucket < ${sql.lit(notEnded)} / 64` : null
  const inBlocks = sql`bucket >= (select first * 64 from found_blocks)
    and bucket <= (select last * 64 + 63 from found_blocks)`
  return [
    sql`found_blocks as materialized (${buckets(position, `${measure}_block`, over)})`,
    sql`found as materialized (
      ${buckets({ ...position, offset: sql`(select skip from found_blocks)` }, measure, inBlocks)})`,
  ]
}

/** Like findDays, by steps of rate. */
export function findRates(position: PagePosition, measure: 'bps' | 'pps'): Sql[] {
  return [
    sql`found as materialized (${buckets({ ...position, scope: { ...position.scope, byFacet: false } }, measure, null)})`,
  ]
}

function buckets(
  { scope, isDescending, offset, limit }: PagePosition,
  measure: string,
  within: Sql | null,
): Sql {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  const summed = countsOf(scope, sql`bucket, ${sum} as events`, all(sql`measure = ${measure}`, within))
  return sql`
    select min(bucket) as first, max(bucket) as last, ${offset} - min(upto - events) as skip from (
      select bucket, events, sum(events) over (order by bucket ${direction})::bigint as upto from (
        ${summed} group by bucket) c) c
    where upto > ${offset} and upto - events < ${offset} + ${limit}`
}
