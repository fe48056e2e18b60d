// Counts a team's events and finds the position of the n-th, from the counts that a trigger maintains
// (team_event_counts), without reading the events. SQL fragments.
import { sql } from 'kysely'
import { all, hasFlag, type Scope, type Sql } from './related-sql.store.ts'

const sum = sql`coalesce(sum(events), 0)::bigint`
/** Events that have not ended are in no bucket of `end` before this one. */
const notEnded = 2_147_483_647
const dayMs = 86_400_000

/** Counts the events that started before the window's end, without those that ended before its start. */
export function countOf(scope: Scope): Sql {
  const { teamId, start, end } = scope
  const started =
    end === null
      ? sql`(select ${sum} from team_event_counts
          where ${all(sql`team_id = ${teamId} and measure = 'all'`, hasFlag(scope))})`
      : countUntil(scope, 'start', end, true)
  return start === null ? started : sql`(${started} - ${countUntil(scope, 'end', start, false)})`
}

/**
 * Counts the events that started (or ended) up to then: blocks of 64 days and the days after them from the counts, the
 * partial day from its index.
 */
export function countUntil(scope: Scope, measure: 'start' | 'end', at: Date, inclusive: boolean): Sql {
  const { teamId, flags } = scope
  const column = sql.raw(measure === 'start' ? 'start_at' : 'end_at')
  // Computed here: under row-level security, only leakproof conditions can use an index, and coalesce() is not
  // leakproof.
  const day = Math.floor(at.getTime() / dayMs)
  const within = sql`${column} >= ${new Date(day * dayMs)}::timestamptz
    and ${column} ${inclusive ? sql`<=` : sql`<`} ${at}::timestamptz`
  // The index by flags is ordered by start; the one by end includes the flags.
  const ofDay =
    measure === 'start' && flags !== null
      ? sql`select count(*) from team_flags f join team_events e on e.team_id = ${teamId} and e.flags = f.flags
          and ${within}`
      : sql`select count(*) from team_events where ${all(sql`team_id = ${teamId}`, within, hasFlag(scope))}`
  const ofDays = (name: string, buckets: Sql) => sql`
    (select ${sum} from team_event_counts
      where ${all(sql`team_id = ${teamId} and measure = ${name}`, buckets, hasFlag(scope))})`
  return sql`(
    ${ofDays(`${measure}_block`, sql`bucket < ${Math.floor(day / 64)}::integer`)}
    + ${ofDays(measure, sql`bucket >= ${Math.floor(day / 64) * 64}::integer and bucket < ${day}::integer`)}
    + (${ofDay}))`
}

/** Counts the events that have ended. */
export function countEnded({ teamId }: Scope): Sql {
  return sql`(select ${sum} from team_event_counts
    where team_id = ${teamId} and measure = 'end_block' and bucket < ${sql.lit(notEnded)} / 64)`
}

/** A page by its position among all events. */
export type PagePosition = {
  readonly scope: Scope
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
    sql`found as materialized (${buckets({ ...position, scope: { ...position.scope, flags: null } }, measure, null)})`,
  ]
}

function buckets(
  { scope, isDescending, offset, limit }: PagePosition,
  measure: string,
  within: Sql | null,
): Sql {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  const conditions = all(sql`team_id = ${scope.teamId} and measure = ${measure}`, within, hasFlag(scope))
  return sql`
    select min(bucket) as first, max(bucket) as last, ${offset} - min(upto - events) as skip from (
      select bucket, events, sum(events) over (order by bucket ${direction})::bigint as upto from (
        select bucket, ${sum} as events from team_event_counts where ${conditions} group by bucket) c) c
    where upto > ${offset} and upto - events < ${offset} + ${limit}`
}
