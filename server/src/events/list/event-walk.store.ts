// Pages that are one or two ranges of one index. By start: all events, or with a window the events that were ongoing at
// its start, then the events that start in it; with flags, one range per combination of flags. By end: ended events,
// then ongoing ones. By rate, id or class: all. A small offset is walked; a large one is looked up in the counts, and
// the walk starts at the right day or step of rate. There are no counts by id and class.
import { sql, type RawBuilder } from 'kysely'
import { countEnded, countOfScope, countUntil, findDays, findRates } from './event-count.store.ts'
import type { EventOrdering, OrderingKey, EventQuery } from './event-query.ts'
import {
  all,
  answer,
  columnOf,
  element,
  hasFacet,
  literalLimit,
  ofFacet,
  orderEventsBy,
  orderByWithoutNulls,
  walkLimit,
  sortColumns,
  startsInTime,
  type EventRows,
  type EventScope,
  type Sql,
} from './event-sql.store.ts'

/** An event lasts at most 2^33 seconds: its times are between the years 1980 and 2200. */
const spanMax = 33

/** The first page without a filter, the most frequent request: index and JSON in one walk. */
export function firstPage(scope: EventScope, { ordering, limit }: EventQuery): RawBuilder<EventRows> {
  const keys = orderEventsBy(ordering)
  return sql<EventRows>`
    select ${countOfScope(scope)} as count, coalesce((
      select string_agg(e.element, ',' order by ${keys}) from (
        select * from (
          select ${sortColumns(ordering)}, ${element} from team_events where team_id = ${scope.teamId}
          order by ${keys} limit ${literalLimit(limit)}) e
        order by ${keys} limit ${limit}) e), '') as results`
}

/** `walkMax`: a larger offset is looked up in the counts; by facets every offset is, since each of them is walked. */
export function byStart(
  scope: EventScope,
  query: EventQuery,
  ctes: readonly Sql[],
  walkMax: number,
): RawBuilder<EventRows> {
  const { ordering, limit, offset } = query
  const isDescending = ordering[0]!.descending
  const isDeep = offset > (scope.byFacet ? 0 : walkMax)
  const keys = orderEventsBy(ordering)
  const isWindow = scope.start !== null
  // Events that were ongoing at the start of the window precede all others.
  const before = sql`(select n from before)`
  const started = sql`((select n from total) - ${before})`
  const startedOffset =
    isWindow && !isDescending ? sql`greatest(${offset} - ${before}, 0)` : sql`${offset}::bigint`
  const runningOffset = isDescending ? sql`greatest(${offset} - ${started}, 0)` : sql`${offset}`
  const skip = isDeep ? sql`(select skip from place)` : startedOffset
  const reach = isDeep ? sql`(select skip from place) + ${limit}` : walkLimit(offset, limit, walkMax)
  const startedPage = sql`
    (select * from (${startedIn(scope, ordering, reach, isDeep)}) s order by ${keys} offset ${skip} limit ${limit})`
  const runningPage = sql`
    (select * from running order by ${keys} offset ${runningOffset} limit ${limit})`
  return answer(
    scope.teamId,
    ordering,
    [
      ...ctes,
      sql`total as materialized (select ${countOfScope(scope)} as n)`,
      ...(isWindow
        ? [
            sql`running as materialized (${runningAt(scope, sortColumns(ordering))})`,
            sql`before as materialized (select count(*) as n from running)`,
          ]
        : []),
      ...(isDeep ? placeOf(scope, query, startedOffset) : []),
      isWindow
        ? sql`page as materialized (
            select * from (${runningPage} union all ${startedPage}) p order by ${keys} limit ${limit})`
        : sql`page as materialized ${startedPage}`,
    ],
    sql`(select n from total)`,
  )
}

/**
 * Events that started before the window and had not ended when it began. Events that lasted up to 2^span seconds are
 * included only if they started at most that long before the window, so this reads at most twice as many rows as it
 * finds, however long ago the window is and however long some events last.
 *
 * Span and start are compared as a row, and the end within a sum, so that only the index team_events_span matches:
 * PostgreSQL 18 can skip-scan the others, estimates the same cost, and reads a thousand times as much.
 */
export function runningAt(scope: EventScope, wanted: Sql, passes: Sql | null = null): Sql {
  const { teamId, start } = scope
  const begin = sql`${start}::timestamptz`
  return sql`
    select e.* from generate_series(0, ${sql.lit(spanMax)}) as s(span) cross join lateral (
      select ${wanted} from team_events
      where ${all(
        sql`team_id = ${teamId} and (span, start_at) < (s.span, ${begin})
          and (span, start_at) >= (s.span, ${begin} - make_interval(secs => power(2, s.span) * 1.001))
          and end_at + interval '0' >= ${begin}`,
        hasFacet(scope),
        passes,
      )} offset 0) e
    union all
    select ${wanted} from team_events where ${all(
      sql`team_id = ${teamId} and (span, start_at) >= (99, '-infinity') and (span, start_at) < (99, ${begin})`,
      hasFacet(scope),
      passes,
    )}`
}

/** CTE `place`: the range in which the page's events started (`low` <= start < `high`), and how many to skip there. */
function placeOf(scope: EventScope, { ordering, limit }: EventQuery, startedOffset: Sql): Sql[] {
  const isDescending = ordering[0]!.descending
  const border = isDescending ? scope.end : scope.start
  const anyTime = { ...scope, start: null, end: null }
  const outside = !border
    ? sql`0`
    : isDescending
      ? sql`(${countOfScope(anyTime)} - ${countUntil(scope, 'start', border, true)})`
      : countUntil(scope, 'start', border, false)
  // If the days extend beyond the window's start, the range begins at the window's start.
  const isOver = isDescending ? sql`high > ${border}::timestamptz` : sql`low <= ${border}::timestamptz`
  return [
    ...findDays({ scope, isDescending, offset: sql`(${startedOffset} + ${outside})`, limit }, 'start'),
    sql`place as materialized (
      select low, high, ${border ? sql`case when ${isOver} then ${startedOffset} else skip end` : sql`skip`} as skip
      from (select to_timestamp(first * 86400.0) as low, to_timestamp((last + 1) * 86400.0) as high, skip
        from found) f)`,
  ]
}

/** The first `reach` events, in order, that started in the window and, for a large offset, in the place. */
function startedIn(scope: EventScope, ordering: EventOrdering, reach: Sql, isDeep: boolean): Sql {
  const { teamId, byFacet, start } = scope
  const wanted = sortColumns(ordering)
  const within = [
    start && sql`start_at >= ${start}::timestamptz`,
    startsInTime(scope),
    isDeep && sql`start_at >= (select low from place) and start_at < (select high from place)`,
  ]
  const keys = orderEventsBy(ordering)
  if (!byFacet) {
    return sql`
      select ${wanted} from team_events where ${all(sql`team_id = ${teamId}`, ...within)} order by ${keys} limit ${reach}`
  }
  return sql`
    select e.* from facets f cross join lateral (
      select ${wanted} from team_events where ${all(
        sql`team_id = ${teamId} and facet = f.id`,
        ofFacet(null, null),
        ...within,
      )}
      order by ${keys} limit ${reach}) e`
}

export function byEnd(scope: EventScope, query: EventQuery, walkMax: number): RawBuilder<EventRows> {
  const { ordering, limit, offset } = query
  const isDeep = offset > walkMax
  const keys = orderEventsBy(ordering)
  const isOver = isDeep
    ? sql`end_at >= (select to_timestamp(first * 86400.0) from found)
        and end_at < (select to_timestamp((last + 1) * 86400.0) from found)`
    : sql`end_at is not null`
  const segment = (condition: Sql, by: EventOrdering, skip: Sql, reach: Sql) => sql`
    (select * from (
        select ${sortColumns(ordering)} from team_events where team_id = ${scope.teamId} and ${condition}
        order by ${orderByWithoutNulls(by)} limit ${reach}) s
      order by ${keys} offset ${skip} limit ${limit})`
  const over = isDeep
    ? segment(isOver, ordering, sql`(select skip from found)`, sql`(select skip from found) + ${limit}`)
    : segment(isOver, ordering, sql`${offset}`, walkLimit(offset, limit, walkMax))
  const ended = sql`(select n from ended)`
  const notEnded = segment(
    sql`end_at is null and ${offset}::bigint + ${limit} > ${ended}`,
    ordering.slice(1),
    sql`greatest(${offset} - ${ended}, 0)`,
    sql`greatest(${offset} - ${ended}, 0) + ${limit}`,
  )
  return answer(
    scope.teamId,
    ordering,
    [
      sql`ended as materialized (select ${countEnded(scope)} as n)`,
      ...(isDeep
        ? findDays(
            { scope, isDescending: ordering[0]!.descending, offset: sql`${offset}::bigint`, limit },
            'end',
          )
        : []),
      sql`page as materialized (
        select * from (${over} union all ${notEnded}) p order by ${keys} limit ${limit})`,
    ],
    countOfScope(scope),
  )
}

const rates: Partial<Record<OrderingKey, 'bps' | 'pps'>> = { affected_bps: 'bps', affected_pps: 'pps' }

/** Pages by rate, id or class. */
export function byOther(scope: EventScope, query: EventQuery, walkMax: number): RawBuilder<EventRows> {
  const { ordering, limit, offset } = query
  const { key, descending: isDescending } = ordering[0]!
  const measure = offset > walkMax ? rates[key] : undefined
  const keys = orderEventsBy(ordering)
  const column = columnOf(key)
  const within = measure
    ? sql`${column} >= (select bucket_rate(first) from found) and ${column} < (select bucket_rate(last + 1) from found)`
    : null
  const skip = measure ? sql`(select skip from found)` : sql`${offset}::bigint`
  const reach = measure ? sql`${skip} + ${limit}` : walkLimit(offset, limit, walkMax)
  return answer(
    scope.teamId,
    ordering,
    [
      ...(measure ? findRates({ scope, isDescending, offset: sql`${offset}::bigint`, limit }, measure) : []),
      sql`page as materialized (
        select * from (
          select ${sortColumns(ordering)} from team_events where ${all(sql`team_id = ${scope.teamId}`, within)}
          order by ${keys} limit ${reach}) s
        order by ${keys} offset ${skip} limit ${limit})`,
    ],
    countOfScope(scope),
  )
}
