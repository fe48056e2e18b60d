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
      ? sql`(select coalesce(sum(events), 0)::bigint from team_event_counts
          where team_id = ${teamId} and measure = 'all' and ${inFlags(flags)})`
      : countBefore(scope, 'start', end, true)
  return start === null ? started : sql`(${started} - ${countBefore(scope, 'end', start, false)})`
}

/** How many started (or were over) before the time: the days before from the counts, the day itself from its index. */
export function countBefore(
  { teamId, flags }: Pick<Scope, 'teamId' | 'flags'>,
  measure: 'start' | 'end',
  at: Date,
  inclusive: boolean,
): Sql {
  const column = sql.raw(measure === 'start' ? 'start_at' : 'end_at')
  const upTo = inclusive ? sql`<=` : sql`<`
  const within = sql`${column} >= to_timestamp(day_bucket(${at}::timestamptz) * 86400.0)
    and ${column} ${upTo} ${at}::timestamptz`
  // The index by flags is by start; that by end has the flags beside it.
  const ofDay =
    measure === 'start' && flags !== null
      ? sql`(select count(*) from team_flags f join team_events e on e.team_id = ${teamId} and e.flags = f.flags
          and ${within})`
      : sql`(select count(*) from team_events where team_id = ${teamId} and ${within} and ${inFlags(flags)})`
  return sql`((select coalesce(sum(events), 0)::bigint from team_event_counts
    where team_id = ${teamId} and measure = ${measure} and bucket < day_bucket(${at}::timestamptz)
      and ${inFlags(flags)}) + ${ofDay})`
}

export type Place = {
  readonly teamId: number
  readonly flags: number | null
  readonly measure: 'start' | 'end' | 'bps' | 'pps'
  readonly isDescending: boolean
  readonly offset: Sql
}

/** CTE `found`: the bucket in which the event with this offset is, and how many of the bucket come before it. */
export function placeOf({ teamId, flags, measure, isDescending, offset }: Place): Sql {
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  return sql`found as materialized (
    select bucket, ${offset} - (upto - events) as skip from (
      select bucket, events, sum(events) over (order by bucket ${direction})::bigint as upto from (
        select bucket, sum(events)::bigint as events from team_event_counts
        where team_id = ${teamId} and measure = ${measure} and bucket < 2147483647 and ${inFlags(flags)}
        group by bucket) c) c
    where upto > ${offset} order by bucket ${direction} limit 1)`
}
