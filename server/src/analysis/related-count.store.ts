// How many of a team's events there are, and where the n-th of them is, from the counts that the database keeps by
// trigger: SQL fragments for related-page.store.ts.
import { sql, type RawBuilder } from 'kysely'

type Sql = RawBuilder<unknown>

/** Which events: of the team, with one of the flags, overlapping the window. Null: any. */
export type Scope = {
  readonly teamId: number
  readonly flags: number | null
  readonly start: Date | null
  readonly end: Date | null
}

export function inFlags(flags: number | null): Sql {
  return flags === null ? sql`true` : sql`flags & ${flags}::integer <> 0`
}

/** Those that started before the window's end, without those that were over when it began. */
export function countOf(scope: Scope): Sql {
  const { teamId, flags, start, end } = scope
  const started =
    end === null
      ? sql`(select ${sumOf} from team_event_counts
          where team_id = ${teamId} and measure = 'all' and ${inFlags(flags)})`
      : countBefore(scope, 'start', end, true)
  return start === null ? started : sql`(${started} - ${countBefore(scope, 'end', start, false)})`
}

/**
 * How many started (or were over) before the time: blocks of 64 days and the days after them from the counts, the rest
 * of the day itself from its index.
 */
export function countBefore(
  { teamId, flags }: Pick<Scope, 'teamId' | 'flags'>,
  measure: 'start' | 'end',
  at: Date,
  inclusive: boolean,
): Sql {
  const column = sql.raw(measure === 'start' ? 'start_at' : 'end_at')
  const day = sql`day_bucket(${at}::timestamptz)`
  const within = sql`${column} >= to_timestamp(${day} * 86400.0)
    and ${column} ${inclusive ? sql`<=` : sql`<`} ${at}::timestamptz`
  // The index by flags is by start; that by end has the flags beside it.
  const ofDay =
    measure === 'start' && flags !== null
      ? sql`select count(*) from team_flags f join team_events e on e.team_id = ${teamId} and e.flags = f.flags
          and ${within}`
      : sql`select count(*) from team_events where team_id = ${teamId} and ${within} and ${inFlags(flags)}`
  return sql`(
    (select ${sumOf} from team_event_counts where team_id = ${teamId} and measure = ${`${measure}_block`}
      and bucket < ${day} / 64 and ${inFlags(flags)})
    + (select ${sumOf} from team_event_counts where team_id = ${teamId} and measure = ${measure}
      and bucket >= ${day} / 64 * 64 and bucket < ${day} and ${inFlags(flags)})
    + (${ofDay}))`
}

const sumOf = sql`coalesce(sum(events), 0)::bigint`

type Place = {
  readonly teamId: number
  readonly flags: number | null
  readonly isDescending: boolean
  readonly offset: Sql
}

/**
 * CTE `found`: the day on which the event with this offset started (or was over), and how many of that day come before
 * it. Those that are not over are on no day.
 */
export function dayOf(place: Place, measure: 'start' | 'end'): Sql[] {
  const notOver = sql`bucket < 2147483647 / 64`
  const ofBlock = sql`bucket >= (select bucket * 64 from found_block) and bucket < (select bucket * 64 + 64 from found_block)`
  const skip = sql`(select skip from found_block)`
  return [
    sql`found_block as materialized (${bucketOf(place, `${measure}_block`, notOver)})`,
    sql`found as materialized (${bucketOf({ ...place, offset: skip }, measure, ofBlock)})`,
  ]
}

/** CTE `found`: as `dayOf`, the step of rate. */
export function stepOf(place: Place, measure: 'bps' | 'pps'): Sql[] {
  return [sql`found as materialized (${bucketOf(place, measure, sql`true`)})`]
}

function bucketOf({ teamId, flags, isDescending, offset }: Place, measure: string, within: Sql): Sql {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  return sql`
    select bucket, ${offset} - (upto - events) as skip from (
      select bucket, events, sum(events) over (order by bucket ${direction})::bigint as upto from (
        select bucket, ${sumOf} as events from team_event_counts
        where team_id = ${teamId} and measure = ${measure} and ${within} and ${inFlags(flags)}
        group by bucket) c) c
    where upto > ${offset} order by bucket ${direction} limit 1`
}
