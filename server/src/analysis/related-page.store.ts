// How a page of a team's events and their exact count are found: in one statement, so in one snapshot, and without
// walking to the count or to a deep offset, because team_event_counts says how many events lie where.
//
// - Where the filter is about network or description, the events that pass are gathered, counted and sorted.
// - Everywhere else the list is cut into segments, each one stretch of one index: by start, those that were going on
//   when the window began and those that start in it; by end, those that are over and those that are not; by rate, id
//   or class, all of them. A deep offset is looked up in the counts and begins in the right day or step of rate.
// - Filtered by flags or window but not ordered by start, few events are gathered and many are filtered on the way.
import { sql, type RawBuilder } from 'kysely'
import { lengthOf, networkOf, prefixAround } from '../net/prefix.ts'
import type { Prefix } from '../net/prefix.ts'
import { countBefore, countOf, dayOf, inFlags, stepOf, type Scope } from './related-count.store.ts'
import type { Ordering, OrderingKey, RelatedQuery } from './related-event.ts'
import type { RelatedRows } from './related-event.store.ts'

type Sql = RawBuilder<unknown>

/** Where one way of finding a page becomes cheaper than the other. Any values give the same page. */
export type Tuning = {
  /** Up to here an offset is walked. */
  readonly walkMax: number
  /** Up to here what passes a filter is gathered and sorted; beyond, the order's index is walked and filtered. */
  readonly gatherMax: number
}
const tuned: Tuning = { walkMax: 1_000, gatherMax: 20_000 }

/** An event lasts at most 2^33 seconds: its times lie between the years 1980 and 2200. */
const spanMax = 33

export function pageStatement(
  teamId: number,
  query: RelatedQuery,
  tuning: Tuning = tuned,
): RawBuilder<RelatedRows> {
  const scope: Scope = { teamId, flags: query.flags, start: query.start, end: query.end }
  if (query.network !== null || query.description !== null) return gathered(scope, query)
  const first = query.ordering[0]!
  const isDeep = query.offset > tuning.walkMax
  if (first.key === 'start') return byStart(scope, query, isDeep)
  if (isFiltered(query)) return filtered(scope, query, tuning)
  return first.key === 'end' ? byEnd(scope, query, isDeep) : byOther(scope, query, isDeep)
}

function isFiltered({ flags, start, end }: RelatedQuery): boolean {
  return flags !== null || start !== null || end !== null
}

const columns: Readonly<Record<OrderingKey, string>> = {
  start: 'start_at',
  end: 'end_at',
  affected_bps: 'affected_bps',
  affected_pps: 'affected_pps',
  id: 'event_id',
  classification_key: 'classification_key',
}

/** `end` is null while an event is not over, which sorts last in both directions. */
function orderBy(ordering: Ordering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) =>
      sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}${key === 'end' ? ' nulls last' : ''}`),
    ),
  )
}

/** Where all are over or none is, "nulls last" would only keep the index from being walked backwards. */
function orderByWithoutNulls(ordering: Ordering): Sql {
  return sql.join(
    ordering.map(({ key, descending }) => sql.raw(`${columns[key]} ${descending ? 'desc' : 'asc'}`)),
  )
}

/** Nothing but what the ordering needs: a walk then stays in the index. */
function sortColumns(ordering: Ordering): Sql {
  return sql.raw(ordering.map(({ key }) => columns[key]).join(', '))
}

/** The statement around `page`, a CTE with the page's rows. The records are fetched one by one, by key. */
function answer(
  teamId: number,
  ordering: Ordering,
  ctes: readonly Sql[],
  count: Sql,
): RawBuilder<RelatedRows> {
  return sql<RelatedRows>`
    with ${sql.join(ctes)}
    select ${count} as count, coalesce((
      select string_agg(e.element, ',' order by ${orderBy(ordering)})
      from page cross join lateral (
        select record || ',"relationships":' || relationships || '}' as element from team_events t
        where t.team_id = ${teamId} and t.event_id = page.event_id offset 0) e), '') as results`
}

// ------------------------------------------------------------------------------------------------ ordered by start

function byStart(
  scope: Scope,
  { ordering, limit, offset }: RelatedQuery,
  isDeep: boolean,
): RawBuilder<RelatedRows> {
  const isDescending = ordering[0]!.descending
  const keys = orderBy(ordering)
  const running = scope.start === null ? sql`select * from nothing` : runningAt(scope, sortColumns(ordering))
  // Those that were going on when the window began started before all others.
  const runningOffset = isDescending ? sql`greatest(${offset} - (select n from started), 0)` : sql`${offset}`
  const startedOffset = isDescending
    ? sql`${offset}::bigint`
    : sql`greatest(${offset} - (select n from before), 0)`
  return answer(
    scope.teamId,
    ordering,
    [
      ...flagsCte(scope),
      sql`nothing as (select ${sortColumns(ordering)} from team_events where false)`,
      sql`running as materialized (${running})`,
      sql`before as materialized (select count(*) as n from running)`,
      sql`total as materialized (select ${countOf(scope)} as n)`,
      sql`started as materialized (select total.n - before.n as n from total, before)`,
      ...startedPlace(scope, isDescending, isDeep, startedOffset),
      sql`page as materialized (
        select * from (
          (select * from running order by ${keys} offset ${runningOffset} limit ${limit})
          union all
          (select * from (${startedIn(scope, ordering, limit, isDeep ? undefined : offset)}) s
            order by ${keys} offset (select skip from place) limit ${limit})) p
        order by ${keys} limit ${limit})`,
    ],
    sql`(select n from total)`,
  )
}

function flagsCte({ teamId, flags }: Scope): Sql[] {
  if (flags === null) return []
  return [
    sql`team_flags as materialized (
      select flags from team_event_counts
      where team_id = ${teamId} and measure = 'all' and flags & ${flags}::integer <> 0 and events > 0)`,
  ]
}

/**
 * Events that started before the window and were not over when it began. Of events that lasted up to 2^span seconds only
 * those can be among them that started at most that long before it.
 */
function runningAt({ teamId, flags, start }: Scope, wanted: Sql): Sql {
  return sql`
    select e.* from generate_series(0, ${sql.lit(spanMax)}) as s(span) cross join lateral (
      select ${wanted} from team_events
      where team_id = ${teamId} and span = s.span and start_at < ${start}::timestamptz
        and start_at >= ${start}::timestamptz - make_interval(secs => power(2, s.span) * 1.001)
        and end_at >= ${start}::timestamptz and ${inFlags(flags)} offset 0) e
    union all
    select ${wanted} from team_events
    where team_id = ${teamId} and span = 99 and start_at < ${start}::timestamptz and ${inFlags(flags)}`
}

/** `place`: from where to where to walk (`low` <= start < `high`), and how many to skip there. */
function startedPlace(scope: Scope, isDescending: boolean, isDeep: boolean, startedOffset: Sql): Sql[] {
  if (!isDeep) {
    return [
      sql`place as materialized (
        select '-infinity'::timestamptz as low, 'infinity'::timestamptz as high, ${startedOffset} as skip)`,
    ]
  }
  const { teamId, start, end } = scope
  const outside = isDescending
    ? end &&
      sql`(select ${countOf({ ...scope, start: null, end: null })} - ${countBefore(scope, 'start', end, true)})`
    : start && sql`(select ${countBefore(scope, 'start', start, false)})`
  const wanted = sql`${startedOffset} + ${outside ?? sql`0`}`
  // Where the place found reaches over the window's border, the border is where to begin.
  const skip = isDescending
    ? sql`case when high > ${end}::timestamptz then ${startedOffset} else skip end`
    : sql`case when low <= ${start}::timestamptz then ${startedOffset} else skip end`
  return [
    ...dayOf({ teamId, flags: scope.flags, isDescending, offset: wanted }, 'start'),
    sql`place as materialized (
      select low, high, ${isDescending ? (end ? skip : sql`skip`) : start ? skip : sql`skip`} as skip from (
        select ${isDescending ? sql`'-infinity'::timestamptz` : sql`to_timestamp(bucket * 86400.0)`} as low,
          ${isDescending ? sql`to_timestamp((bucket + 1) * 86400.0)` : sql`'infinity'::timestamptz`} as high, skip
        from found) f)`,
  ]
}

/** Events that started in the window, within the place; with flags, one ordered stretch for each combination of them. */
function startedIn(scope: Scope, ordering: Ordering, limit: number, offset: number | undefined): Sql {
  const { teamId, flags, start, end } = scope
  const wanted = sortColumns(ordering)
  const within = sql`start_at >= greatest((select low from place), ${start ?? '-infinity'}::timestamptz)
    and start_at < (select high from place) and start_at <= ${end ?? 'infinity'}::timestamptz`
  if (flags === null) return sql`select ${wanted} from team_events where team_id = ${teamId} and ${within}`
  const reach = offset === undefined ? sql`(select skip from place) + ${limit}` : sql`${offset + limit}`
  return sql`
    select e.* from team_flags f cross join lateral (
      select ${wanted} from team_events where team_id = ${teamId} and flags = f.flags and ${within}
      order by ${orderBy(ordering)} limit ${reach}) e`
}

// ------------------------------------------------------------------------------------------------ ordered otherwise

/** Those that are over, then those that are not. */
function byEnd(
  scope: Scope,
  { ordering, limit, offset }: RelatedQuery,
  isDeep: boolean,
): RawBuilder<RelatedRows> {
  const { teamId } = scope
  const isDescending = ordering[0]!.descending
  const keys = orderBy(ordering)
  const segmentKeys = orderByWithoutNulls(ordering)
  const wanted = sortColumns(ordering)
  const within = isDescending
    ? sql`end_at < (select to_timestamp((bucket + 1) * 86400.0) from found)`
    : sql`end_at >= (select to_timestamp(bucket * 86400.0) from found)`
  return answer(
    teamId,
    ordering,
    [
      sql`total as materialized (select ${countOf(scope)} as n)`,
      sql`ended as materialized (
        select coalesce(sum(events), 0)::bigint as n from team_event_counts
        where team_id = ${teamId} and measure = 'end_block' and bucket < 2147483647 / 64)`,
      ...(isDeep ? dayOf({ teamId, flags: null, isDescending, offset: sql`${offset}::bigint` }, 'end') : []),
      sql`page as materialized (
        select * from (
          (select ${wanted} from team_events where team_id = ${teamId} and end_at is not null and ${isDeep ? within : sql`true`}
            order by ${segmentKeys} offset ${isDeep ? sql`(select skip from found)` : sql`${offset}`} limit ${limit})
          union all
          (select ${wanted} from team_events where team_id = ${teamId} and end_at is null
            order by ${segmentKeys} offset greatest(${offset} - (select n from ended), 0) limit ${limit})) p
        order by ${keys} limit ${limit})`,
    ],
    sql`(select n from total)`,
  )
}

const rates: Partial<Record<OrderingKey, 'bps' | 'pps'>> = { affected_bps: 'bps', affected_pps: 'pps' }

function byOther(
  scope: Scope,
  { ordering, limit, offset }: RelatedQuery,
  isDeep: boolean,
): RawBuilder<RelatedRows> {
  const { teamId } = scope
  const { key, descending: isDescending } = ordering[0]!
  const measure = isDeep ? rates[key] : undefined
  const column = sql.ref(columns[key])
  const within = isDescending
    ? sql`${column} < (select bucket_rate(bucket + 1) from found)`
    : sql`${column} >= (select bucket_rate(bucket) from found)`
  return answer(
    teamId,
    ordering,
    [
      sql`total as materialized (select ${countOf(scope)} as n)`,
      ...(measure
        ? stepOf({ teamId, flags: null, isDescending, offset: sql`${offset}::bigint` }, measure)
        : []),
      sql`page as materialized (
        select ${sortColumns(ordering)} from team_events where team_id = ${teamId} and ${measure ? within : sql`true`}
        order by ${orderBy(ordering)} offset ${measure ? sql`(select skip from found)` : sql`${offset}`} limit ${limit})`,
    ],
    sql`(select n from total)`,
  )
}

/** By flags or window, not ordered by start: few are gathered by start and sorted, many are filtered in their order. */
function filtered(
  scope: Scope,
  { ordering, limit, offset }: RelatedQuery,
  { gatherMax }: Tuning,
): RawBuilder<RelatedRows> {
  const { teamId, flags, start, end } = scope
  const wanted = sortColumns(ordering)
  const keys = orderBy(ordering)
  const starts = sql`start_at >= ${start ?? '-infinity'}::timestamptz and start_at <= ${end ?? 'infinity'}::timestamptz`
  const few = sql`(select n from total) <= ${sql.lit(gatherMax)}`
  const many = sql`(select n from total) > ${sql.lit(gatherMax)}`
  const passing = sql`team_id = ${teamId} and ${inFlags(flags)} and start_at <= ${end ?? 'infinity'}::timestamptz
    and (end_at >= ${start ?? '-infinity'}::timestamptz or end_at is null)`
  const walk = (segment: Sql, skip: Sql) => sql`
    (select ${wanted} from team_events where ${passing} and ${segment} and ${many}
      order by ${ordering[0]!.key === 'end' ? orderByWithoutNulls(ordering) : keys} offset ${skip} limit ${limit})`
  const walks =
    ordering[0]!.key === 'end'
      ? sql`${walk(sql`end_at is not null`, sql`${offset}`)} union all
          ${walk(sql`end_at is null`, sql`greatest(${offset} - (select n from ended), 0)`)}`
      : walk(sql`true`, sql`${offset}`)
  return answer(
    teamId,
    ordering,
    [
      ...flagsCte(scope),
      sql`total as materialized (select ${countOf(scope)} as n)`,
      sql`ended as materialized (
        select (select n from total) - count(*) as n from team_events
        where team_id = ${teamId} and span = 99 and start_at <= ${end ?? 'infinity'}::timestamptz and ${inFlags(flags)})`,
      sql`gathered as (
        ${start === null ? sql`select ${wanted} from team_events where false` : runningAt(scope, wanted)}
        union all
        ${
          flags === null
            ? sql`select ${wanted} from team_events where team_id = ${teamId} and ${starts}`
            : sql`select e.* from team_flags f cross join lateral (
                select ${wanted} from team_events where team_id = ${teamId} and flags = f.flags and ${starts} offset 0) e`
        })`,
      sql`page as materialized (
        select * from (
          (select * from (select * from gathered where ${few}) g order by ${keys} offset ${offset} limit ${limit})
          union all ${walks}) p
        order by ${keys} limit ${limit})`,
    ],
    sql`(select n from total)`,
  )
}

// ------------------------------------------------------------------------------------- network and description

function gathered(scope: Scope, query: RelatedQuery): RawBuilder<RelatedRows> {
  const { ordering, limit, offset, network, description } = query
  const { teamId, flags, start, end } = scope
  const conditions = [
    sql`team_id = ${teamId}`,
    ...(network === null ? [] : [networkCondition(network)]),
    ...(description === null ? [] : [sql`strpos(lower(description), lower(${description})) > 0`]),
    ...(flags === null ? [] : [inFlags(flags)]),
    ...(start === null ? [] : [sql`(end_at >= ${start}::timestamptz or end_at is null)`]),
    ...(end === null ? [] : [sql`start_at <= ${end}::timestamptz`]),
  ]
  return answer(
    teamId,
    ordering,
    [
      sql`gathered as materialized (
        select ${sortColumns(ordering)} from team_events where ${sql.join(conditions, sql` and `)})`,
      sql`page as materialized (
        select * from gathered order by ${orderBy(ordering)} offset ${offset} limit ${limit})`,
    ],
    sql`(select count(*) from gathered)`,
  )
}

function networkCondition(network: NonNullable<RelatedQuery['network']>): Sql {
  if ('text' in network) return sql`strpos(affected_network::text, lower(${network.text})) > 0`
  return overlapCondition(network.prefix)
}

/**
 * What overlaps a prefix is inside it, which is one stretch in the order of cidr, or one of at most 128 larger ones.
 * Unlike `&&`, comparing may use the index under row-level security: it is leakproof.
 */
function overlapCondition(prefix: Prefix): Sql {
  const larger = Array.from({ length: lengthOf(prefix) }, (_, length) =>
    prefixAround(networkOf(prefix), length),
  )
  return sql`((affected_network >= ${prefix}::cidr and affected_network <= host(broadcast(${prefix}::inet))::cidr)
    or affected_network = any(${larger}::cidr[]))`
}
