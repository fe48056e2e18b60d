// Pages whose filter and ordering share no index. Each filter has a way to its events: networks, events that have not
// ended, rates, facets and window. The way with the fewest events is gathered, checked by the other filters, counted and
// sorted. If that are many events, the ordering's index is walked and filtered, since most events pass.
import { sql, type RawBuilder } from 'kysely'
import { lengthOf, networkOf, prefixAround } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { countFrom, countOfScope } from './event-count.store.ts'
import type { NetworkFilter, EventQuery, SearchFilter } from './event-query.ts'
import { runningAt } from './event-walk.store.ts'
import {
  all,
  answer,
  endsInTime,
  facetsCte,
  hasFacet,
  hasText,
  isByFacet,
  isFacetOf,
  mayHaveText,
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

/**
 * `walkMax`: up to that offset the statement contains the length of the walk as a literal. `gatherMax`: the greatest
 * number of events that is gathered.
 */
type Limits = { readonly walkMax: number; readonly gatherMax: number }

/** Events that have not ended, in the index by span. */
const notEnded = sql`span = 99`

/** By facets, window and text, in any order: the counts return the number of matching events. */
export function byCounts(
  scope: EventScope,
  query: EventQuery,
  ctes: readonly Sql[],
  { walkMax, gatherMax }: Limits,
): RawBuilder<EventRows> {
  const { ordering, limit, offset, ongoing } = query
  const { teamId } = scope
  const wanted = sortColumns(ordering)
  const keys = orderEventsBy(ordering)
  const isByEnd = ordering[0]!.key === 'end'
  const hasEnded = ongoing === false ? sql`end_at is not null` : null
  const rest = restOf(scope, query)
  const isSmall = sql`(select n from total) <= ${sql.lit(gatherMax)}`
  const isLarge = sql`(select n from total) > ${sql.lit(gatherMax)}`
  const passes = [
    sql`team_id = ${teamId}`,
    hasFacet(scope),
    startsInTime(scope),
    endsInTime(scope),
    hasEnded,
    isLarge,
  ]
  // Events of `rest` may precede any of the others.
  const reach = rest ? sql`${offset}::bigint + ${limit}` : walkLimit(offset, limit, walkMax)
  const cut = (skip: Sql) => (rest ? sql`` : sql`offset ${skip} limit ${limit}`)
  const walk = (segment: Sql | null, skip: Sql) => sql`
    (select * from (
        select ${wanted} from team_events where ${all(...passes, segment)}
        order by ${isByEnd ? orderByWithoutNulls(ordering) : keys} limit ${reach}) s
      order by ${keys} ${cut(skip)})`
  const ended = sql`greatest(${offset} - (select n from ended), 0)`
  const walks =
    isByEnd && hasEnded === null
      ? sql`${walk(sql`end_at is not null`, sql`${offset}`)} union all ${walk(sql`end_at is null`, ended)}`
      : walk(null, sql`${offset}`)
  const isNotOver = all(sql`team_id = ${teamId} and ${notEnded}`, hasFacet(scope), startsInTime(scope))
  const count = hasEnded ? sql`(${countOfScope(scope)} - (select n from not_ended))` : countOfScope(scope)
  return answer(
    teamId,
    ordering,
    [
      ...ctes,
      ...(hasEnded || isByEnd
        ? [sql`not_ended as materialized (select count(*) as n from team_events where ${isNotOver})`]
        : []),
      sql`total as materialized (select ${count} as n)`,
      ...(isByEnd
        ? [sql`ended as materialized (select (select n from total) - (select n from not_ended) as n)`]
        : []),
      ...(rest ?? []),
      sql`page as materialized (
        select * from (
          (select * from (
              select * from (${gathered(scope, wanted, hasEnded)}) g where ${isSmall} limit ${sql.lit(gatherMax + 1)}) g
            order by ${keys} ${cut(sql`${offset}`)})
          union all ${walks} ${rest ? sql`union all select * from rest` : sql``}) p
        order by ${keys} ${rest ? sql`offset ${offset}` : sql``} limit ${limit})`,
    ],
    rest ? sql`((select n from total) + (select count(*) from rest))` : sql`(select n from total)`,
  )
}

/** Selects the events of the scope: the CTE `facets` must exist if it is by facet. */
export function gathered(scope: EventScope, wanted: Sql, passes: Sql | null): Sql {
  const { teamId, byFacet, start } = scope
  const within = [start && sql`start_at >= ${start}::timestamptz`, startsInTime(scope), passes]
  const inWindow = ofFacet(start && sql`${start}::timestamptz`, scope.end && sql`${scope.end}::timestamptz`)
  const started = byFacet
    ? sql`select e.* from facets f cross join lateral (
          select ${wanted} from team_events where ${all(sql`team_id = ${teamId}`, inWindow, passes)}
          offset 0) e`
    : sql`select ${wanted} from team_events where ${all(sql`team_id = ${teamId}`, ...within)}`
  return start === null ? started : sql`${runningAt(scope, wanted, passes)} union all ${started}`
}

/**
 * CTE `rest`: the events that contain the text although not every event of their facet does; null if no text is
 * searched. In `facets` every event contains it.
 */
function restOf(scope: EventScope, query: EventQuery): Sql[] | null {
  const { ordering, description, search, ongoing } = query
  const text = description ?? search?.text
  if (text === undefined) return null
  const { teamId } = scope
  const isOther = sql`not coalesce(${hasText(query)!}, false)`
  const passing = (cte: string, condition: Sql) => sql`
    select ${sortColumns(ordering)} from team_events where ${all(
      sql`team_id = ${teamId}`,
      // Usually no facet is left, and then no event is read.
      sql`exists (select from ${sql.ref(cte)})`,
      condition,
      isFacetOf(cte),
      startsInTime(scope),
      endsInTime(scope),
      ongoing === false ? sql`end_at is not null` : null,
    )}`
  const ways = [
    passing('open_facets', sql`strpos(description, ${text}) > 0`),
    ...(search === null ? [] : searchConditions(search).map((way) => passing('other_facets', way))),
  ]
  return [
    ...(search === null ? [] : [facetsCte('other_facets', teamId, query, isOther)]),
    facetsCte('open_facets', teamId, query, sql`${isOther} and ${mayHaveText(text)}`),
    sql`rest as materialized (${sql.join(ways, sql` union `)})`,
  ]
}

/** The ways to the events that a search finds by their own values; an event may be found on several. */
function searchConditions({ idStart, network }: SearchFilter): Sql[] {
  return [
    // `{` follows z, the last character of an id.
    ...(idStart === null ? [] : [sql`event_id >= ${idStart} and event_id < ${`${idStart}{`}`]),
    ...(network === null ? [] : networkConditions(network)),
  ]
}

/**
 * By network, rate, two texts, or ongoing events, besides any other filter: matching events are counted by gathering
 * them.
 */
export function byGathering(
  scope: EventScope,
  query: EventQuery,
  ctes: readonly Sql[],
  limits: Limits,
): RawBuilder<EventRows> {
  const { ordering, limit, offset, network, ongoing, incident } = query
  const wanted = sortColumns(ordering)
  const passing = (way: Sql | null) => sql`
    select ${wanted} from team_events where ${all(
      sql`team_id = ${scope.teamId}`,
      way,
      hasFacet(scope),
      startsInTime(scope),
      endsInTime(scope),
      ...valueConditions(query),
    )}`
  const isByRate = query.bps !== null || query.pps !== null
  if (network === null && incident === null && ongoing !== true && isByRate)
    return byRate(scope, query, ctes, passing, limits)
  const ways =
    incident !== null
      ? incidentConditions(scope.teamId, incident, network)
      : network === null
        ? [ongoing ? notEnded : null]
        : networkConditions(network)
  return answer(
    scope.teamId,
    ordering,
    [
      ...ctes,
      sql`gathered as materialized (${sql.join(ways.map(passing), sql` union all `)})`,
      sql`page as materialized (
        select * from gathered order by ${orderEventsBy(ordering)} offset ${offset} limit ${limit})`,
    ],
    sql`(select count(*) from gathered)`,
  )
}

/**
 * By rate: its index is gathered, or the events of the window and facets if they are fewer. If both are many, the
 * ordering's index is walked, and only a filter by one rate alone is counted without reading the events.
 */
function byRate(
  scope: EventScope,
  query: EventQuery,
  ctes: readonly Sql[],
  passing: (way: Sql | null) => Sql,
  { walkMax, gatherMax }: Limits,
): RawBuilder<EventRows> {
  const { ordering, limit, offset, bps, pps } = query
  const keys = orderEventsBy(ordering)
  const wanted = sortColumns(ordering)
  const [measure, least] = bps === null ? (['pps', pps!] as const) : (['bps', bps] as const)
  const isAlone = valueConditions(query).length === 1 && !scope.byFacet && !scope.start && !scope.end
  const ofRate = sql`(select n from of_rate)`
  const ofScope = isAlone ? sql`9223372036854775807` : sql`(select n from of_scope)`
  const max = sql.lit(gatherMax)
  const isByRate = sql`${ofRate} <= ${max} and ${ofRate} <= ${ofScope}`
  const isByScope = sql`${ofScope} <= ${max} and ${ofScope} < ${ofRate}`
  const isLarge = sql`${ofRate} > ${max} and ${ofScope} > ${max}`
  const rateWay = sql`${sql.raw(`affected_${measure}`)} >= ${least}::bigint`
  const values = all(...valueConditions(query))
  const isByEnd = ordering[0]!.key === 'end'
  const walk = (segment: Sql | null) => sql`
    (select * from (${passing(all(segment ?? sql`true`, isLarge))}
        order by ${isByEnd ? orderByWithoutNulls(ordering) : keys} limit ${walkLimit(offset, limit, walkMax)}) s)`
  const walks = isByEnd
    ? sql`${walk(sql`end_at is not null`)} union all ${walk(sql`end_at is null`)}`
    : walk(null)
  // In a separate subquery, so that only the index of the way is used.
  const gatheredByScope = sql`
    select ${wanted} from (${gathered(scope, sql`*`, null)} offset 0) g where ${values} and ${isByScope}`
  return answer(
    scope.teamId,
    ordering,
    [
      ...ctes,
      sql`of_rate as materialized (select ${countFrom(scope, measure, least)} as n)`,
      ...(isAlone ? [] : [sql`of_scope as materialized (select ${countOfScope(scope)} as n)`]),
      sql`gathered as materialized (
        (select * from (${passing(all(rateWay, isByRate))} limit ${sql.lit(gatherMax + 1)}) g)
        ${isAlone ? sql`` : sql`union all ${gatheredByScope}`})`,
      sql`page as materialized (
        select * from ((select * from gathered) union all ${walks}) p
        order by ${keys} offset ${offset} limit ${limit})`,
    ],
    isAlone
      ? ofRate
      : sql`case when ${isLarge} then (select count(*) from (${passing(isLarge)}) l)
          else (select count(*) from gathered) end`,
  )
}

/** The first event of the incident, and the events that refer to it. */
function incidentConditions(teamId: number, incident: string, network: NetworkFilter | null): Sql[] {
  const id = sql`(select coalesce(incident, event_id) from team_events where team_id = ${teamId} and event_id = ${incident})`
  const isOn = network && anyOf(networkConditions(network))
  return [sql`event_id = ${id}`, sql`incident = ${id}`].map((way) => all(way, isOn))
}

const anyOf = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, sql` or `)})`

/** Conditions of all filters, for events of any team. CTEs `facets` and `found_facets` must exist if used. */
export function rowConditions(query: EventQuery, byFacet: boolean): Sql[] {
  const { start, end, network, incident } = query
  const scope = { teamId: 0, start, end, byFacet }
  return [
    hasFacet(scope),
    startsInTime(scope),
    endsInTime(scope),
    network && anyOf(networkConditions(network)),
    incident === null
      ? null
      : sql`(team_id, coalesce(incident, event_id)) in (
          select i.team_id, coalesce(i.incident, i.event_id) from team_events i where i.event_id = ${incident})`,
    ...valueConditions(query),
  ].filter((condition) => condition !== null)
}

/**
 * Selects the team's events that pass the filters and overlap the window, which must have both ends. `wanted` must include
 * the columns of the filters. The CTEs must be in the statement.
 */
export function overlapping(teamId: number, query: EventQuery, wanted: Sql): { ctes: Sql[]; rows: Sql } {
  const { network } = query
  const byFacet = isByFacet(query)
  const scope = { teamId, start: query.start, end: query.end, byFacet }
  const found = hasText({ ...query, description: null })
  const passes = all(network && anyOf(networkConditions(network)), ...valueConditions(query))
  return {
    ctes: [
      ...(byFacet ? [facetsCte('facets', teamId, query)] : []),
      ...(found ? [facetsCte('found_facets', teamId, query, found)] : []),
    ],
    rows: sql`select * from (${gathered(scope, wanted, null)} offset 0) e where ${passes}`,
  }
}

/** Conditions on the values of an event, except facet, window and network. */
function valueConditions({ bps, pps, ongoing, description, search }: EventQuery): Sql[] {
  return [
    bps !== null && sql`affected_bps >= ${bps}::bigint`,
    pps !== null && sql`affected_pps >= ${pps}::bigint`,
    ongoing !== null && (ongoing ? notEnded : sql`span <> 99`),
    description !== null && sql`strpos(description, ${description}) > 0`,
    search !== null &&
      sql`(${sql.join(
        [
          isFacetOf('found_facets'),
          sql`strpos(description, ${search.text}) > 0`,
          ...searchConditions(search),
        ],
        sql` or `,
      )})`,
  ].filter((condition) => condition !== false)
}

/**
 * Disjoint conditions. A network that overlaps a prefix is inside it, which is one range in the order of cidr, or is
 * one of at most 128 larger ones. Unlike `&&`, comparisons may use the index under row-level security, because they are
 * leakproof; and each condition alone uses the index.
 */
function networkConditions(network: NetworkFilter): Sql[] {
  if ('text' in network) return [sql`strpos(affected_network::text, ${network.text}) > 0`]
  const { prefix } = network
  return [
    sql`(affected_network >= ${prefix}::cidr and affected_network <= host(broadcast(${prefix}::inet))::cidr)`,
    sql`affected_network = any(${largerThan(prefix)}::cidr[])`,
  ]
}

function largerThan(prefix: Prefix): Prefix[] {
  return Array.from({ length: lengthOf(prefix) }, (_, length) => prefixAround(networkOf(prefix), length))
}
