// The SQL that reads incidents. Only their lists of events are stored: a single event is read as its incident, and the
// figures of other incidents are computed from their events.
import { sql } from 'kysely'
import { incidentEventsMax } from '@pharos/contract/events/incident'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'
import { statusBits } from '../relate/event-json.ts'
import { countOfScope } from './event-count.store.ts'
import { gathered, overlapping } from './event-filter.store.ts'
import type { EventQuery } from './event-query.ts'
import {
  all,
  endsInTime,
  facetsCte,
  hasFacet,
  isByFacet,
  orderEventsBy,
  startsInTime,
  type Sql,
} from './event-sql.store.ts'

/** Limit of networks of a detector in the sum of the peak, the largest first. */
const networksMax = 1_000

const memberColumns = sql.raw(
  'event_id, start_at, end_at, affected_bps, affected_pps, affected_network, classification_key, flags, facet',
)
/** The events of an incident. */
const membersOf = (team: Sql, id: Sql): Sql => sql`
  select * from team_events where team_id = ${team} and event_id = ${id}
  union all
  select * from team_events where team_id = ${team} and incident = ${id}`

const addressOf = (network: string, last: string) =>
  sql.raw(`set_masklen(${last}(${network}::inet)::inet, case family(${network}) when 4 then 32 else 128 end)`)

/**
 * The figures of an incident, one row. A network inside another network of the same detector does not add to its peak:
 * in the order of networks it follows the larger one, and does not reach beyond the last address so far.
 */
export const incidentFiguresOf = (team: Sql, id: Sql): Sql => sql`
  (with m as materialized (select ${memberColumns} from (${membersOf(team, id)}) e),
    outer_networks as (
      select source_key, bps, pps, affected_network is null or reached is null or ${addressOf('affected_network', '')} > reached as is_outer
      from (
        select *, max(${addressOf('affected_network', 'broadcast')}) over (
            partition by source_key order by affected_network rows between unbounded preceding and 1 preceding) as reached
        from (
          select f.source_key, m.affected_network, max(m.affected_bps) as bps, max(m.affected_pps) as pps
          from m join team_event_facets f on f.team_id = ${team} and f.id = m.facet
          group by 1, 2 order by 3 desc, 4 desc, 2 limit ${sql.lit(networksMax)}) n) o)
    select min(start_at) as start_at, case when count(*) = count(end_at) then max(end_at) end as end_at,
      (select coalesce(max(bps), 0)::bigint from (select sum(bps) as bps from outer_networks where is_outer group by source_key) s) as affected_bps,
      (select coalesce(max(pps), 0)::bigint from (select sum(pps) as pps from outer_networks where is_outer group by source_key) s) as affected_pps,
      (array_agg(classification_key order by classification_key = 'unknown', affected_bps desc, event_id))[1] as classification_key
    from m)`

/** The ids of the incidents that have several events. */
const severalIds = (teamId: number): Sql =>
  sql`select distinct incident as id from team_events where team_id = ${teamId} and incident is not null`

export const figures = sql.raw('start_at, end_at, affected_bps, affected_pps, classification_key')

const falsePositiveBit = sql.lit(statusBits(['FALSE_POSITIVE']))

/** Whether an event is called a false positive, which its facet says. */
function judged(teamId: number, isFalse: boolean | null): Sql {
  if (isFalse === null) return sql`true`
  return sql`(facet + 0 = any(array(
    select id from team_event_facets where team_id = ${teamId} and status & ${falsePositiveBit} <> 0))) = ${sql.lit(isFalse)}`
}

/**
 * Selects the incidents that pass the filters, with their figures; `event_id` is the id. The CTEs must be in the statement. Rates, and whether
 * it is over, are of the incident as a whole.
 */
export function incidentsIn(teamId: number, query: EventQuery): { ctes: Sql[]; rows: Sql } {
  const { bps, pps, ongoing, falsePositive } = query
  const ofEvents = { ...query, bps: null, pps: null, ongoing: ongoing || null }
  const { ctes, rows } = overlapping(
    teamId,
    ofEvents,
    sql.raw(
      'event_id, incident, start_at, end_at, span, affected_bps, affected_pps, affected_network, classification_key, description, facet',
    ),
  )
  const passes = all(
    bps !== null && sql`affected_bps >= ${bps}::bigint`,
    pps !== null && sql`affected_pps >= ${pps}::bigint`,
    ongoing === false && sql`end_at is not null`,
  )
  return {
    ctes: [
      ...ctes,
      sql`several_ids as materialized (${severalIds(teamId)})`,
      sql`passing as materialized (select * from (${rows}) e where ${judged(teamId, falsePositive)})`,
      sql`several as materialized (
        select s.id, f.* from (
          select distinct coalesce(incident, event_id) as id from passing
          where coalesce(incident, event_id) in (select id from several_ids)) s
          cross join lateral ${incidentFiguresOf(sql`${teamId}`, sql`s.id`)} f)`,
    ],
    rows: sql`
      select event_id, ${figures} from passing
      where incident is null and event_id not in (select id from several_ids) and ${passes}
      union all
      select id, ${figures} from several where ${passes}`,
  }
}

/** All incidents in the order of an index: reads only the page, and the incidents with several events. */
function walk(teamId: number, query: EventQuery): { ctes: Sql[]; rows: Sql; count: Sql } {
  const { ordering, offset, limit } = query
  const scope = { teamId, start: null, end: null, byFacet: false }
  return {
    ctes: [
      sql`several_ids as materialized (${severalIds(teamId)})`,
      sql`several as materialized (
        select s.id, f.* from several_ids s cross join lateral ${incidentFiguresOf(sql`${teamId}`, sql`s.id`)} f)`,
    ],
    rows: sql`
      (select event_id, ${figures} from team_events
        where team_id = ${teamId} and incident is null and event_id not in (select id from several_ids)
        order by ${orderEventsBy(ordering)} limit ${offset}::bigint + ${limit})
      union all
      select id, ${figures} from several`,
    count: sql`(${countOfScope(scope)} - (select count(*) from team_events where team_id = ${teamId} and incident is not null))`,
  }
}

/** Limit of single events that are gathered and sorted; above it, the index of the ordering is walked. */
const gatherMax = 20_000

/**
 * Incidents by window and facets. Incidents with one event are counted from the stored counts of all events, minus the
 * events of larger incidents, which are read.
 */
function byCounts(teamId: number, query: EventQuery, max: number): { ctes: Sql[]; rows: Sql; count: Sql } {
  const { ordering, offset, limit, start, end, falsePositive } = query
  const byFacet = isByFacet(query) || falsePositive !== null
  const scope = { teamId, start, end, byFacet }
  const isJudged =
    falsePositive === null ? null : sql`(status & ${falsePositiveBit} <> 0) = ${sql.lit(falsePositive)}`
  const passes = [hasFacet(scope), startsInTime(scope), endsInTime(scope)]
  const isAlone = sql`incident is null and event_id not in (select id from several_ids)`
  const wanted = sql`event_id, ${figures}`
  const team = sql`${teamId}`
  return {
    ctes: [
      ...(byFacet ? [facetsCte('facets', teamId, query, isJudged)] : []),
      sql`several_ids as materialized (${severalIds(teamId)})`,
      sql`members as materialized (
        select s.id from several_ids s cross join lateral (select * from (${membersOf(team, sql`s.id`)}) e offset 0) e
        where ${all(sql`true`, ...passes)})`,
      sql`several as materialized (
        select s.id, f.* from (select distinct id from members) s cross join lateral ${incidentFiguresOf(team, sql`s.id`)} f)`,
      sql`alone as materialized (select ${countOfScope(scope)} - (select count(*) from members) as n)`,
    ],
    rows: sql`
      (select * from (${gathered(scope, wanted, isAlone)}) g where (select n from alone) <= ${sql.lit(max)})
      union all
      (select ${wanted} from team_events
        where ${all(sql`team_id = ${teamId}`, ...passes, isAlone, sql`(select n from alone) > ${sql.lit(max)}`)}
        order by ${orderEventsBy(ordering)} limit ${offset}::bigint + ${limit})
      union all
      select id, ${figures} from several`,
    count: sql`((select n from alone) + (select count(*) from several))`,
  }
}

/** An event of an incident, as the team sees it. `record` and `relationships` as in team_events. */
export type IncidentEvent = {
  readonly record: string
  readonly relationships: string
  readonly thresholds: Readonly<Record<string, unknown>> | null
  readonly verdict: string | null
}

export type IncidentRow = {
  readonly id: string
  readonly start: Date
  readonly end: Date | null
  readonly bps: number
  readonly pps: number
  readonly class: string
  readonly eventCount: number
  readonly sources: readonly string[]
  /** In order of start; the largest ones if there are more than requested. */
  readonly events: readonly IncidentEvent[]
}

export type StoredRow = Omit<IncidentRow, 'start' | 'end'> & {
  readonly start: string
  readonly end: string | null
}

/** The rows of `page` as JSON, with their events. */
export function pageJson(team: Sql, ordering: Sql, eventsMax: number, more: Sql = sql``): Sql {
  return sql`
    (select json_agg(json_build_object('id', p.event_id, 'start', p.start_at, 'end', p.end_at, 'bps', p.affected_bps, 'pps', p.affected_pps,
      'class', p.classification_key, 'eventCount', s.event_count, 'sources', s.sources, 'events', e.events${more}) order by ${ordering})
    from page p cross join lateral (
        select count(*) as event_count, array_agg(distinct f.source_key) as sources
        from (${membersOf(team, sql`p.event_id`)}) m join team_event_facets f on f.team_id = ${team} and f.id = m.facet) s
      cross join lateral (
        select json_agg(json_build_object('record', m.record, 'relationships', m.relationships, 'verdict', r.verdict,
          'thresholds', coalesce(m.parsed_data::json, v.parsed_data::json) -> 'thresholds') order by m.start_at, m.event_id) as events
        from (
          select * from (${membersOf(team, sql`p.event_id`)}) m
          order by affected_bps desc, event_id limit ${sql.lit(eventsMax)}) m
          left join events v on v.id = m.event_id and m.parsed_data is null
          left join event_reviews r on r.event_id = m.event_id and r.team_id = ${team}) e)`
}

/** Limit of events of an incident that affect its list entry besides its figures. */
export const listedMax = 100

function isWalked({ ordering, limit: _limit, offset: _offset, ...filters }: EventQuery): boolean {
  return Object.values(filters).every((filter) => filter === null) && ordering[0]!.key !== 'end'
}

/** Whether only the window and facets of events are filtered: networks, texts and rates have no counts. */
const isCounted = ({
  ordering,
  network,
  incident,
  bps,
  pps,
  ongoing,
  description,
  search,
}: EventQuery): boolean =>
  [network, incident, bps, pps, ongoing, description, search].every((filter) => filter === null) &&
  ordering[0]!.key !== 'end'

/** Lists the team's incidents, with the exact number of all. Any `max` gives the same rows. */
export async function listIncidentRows(
  postgres: Postgres,
  teamId: number,
  query: EventQuery,
  max = gatherMax,
): Promise<{ readonly rows: readonly IncidentRow[]; readonly count: number }> {
  const { ordering, limit, offset } = query
  const { ctes, rows, count } = isWalked(query)
    ? walk(teamId, query)
    : isCounted(query)
      ? byCounts(teamId, query, max)
      : { ...incidentsIn(teamId, query), count: sql`(select count(*) from found)` }
  const keys = orderEventsBy(ordering)
  const statement = sql<{ page: StoredRow[] | null; count: number }>`
    with ${sql.join([
      ...ctes,
      sql`found as materialized (${rows})`,
      sql`page as materialized (select * from found order by ${keys} offset ${offset} limit ${limit})`,
    ])}
    select ${count} as count, ${pageJson(sql`${teamId}`, keys, listedMax)} as page`
  const [found] = await postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
  return { rows: (found!.page ?? []).map(rowOf), count: found!.count }
}

export const rowOf = <Row extends StoredRow>(row: Row): Omit<Row, 'start' | 'end'> & IncidentRow => ({
  ...row,
  start: new Date(row.start),
  end: row.end === null ? null : new Date(row.end),
})

/** Returns the incident that has the event. */
export async function findIncidentRow(
  postgres: Postgres,
  teamId: number,
  eventId: string,
): Promise<IncidentRow | undefined> {
  const id = sql`(select coalesce(incident, event_id) from team_events where team_id = ${teamId} and event_id = ${eventId})`
  const statement = sql<{ page: StoredRow[] | null }>`
    with page as materialized (
      select i.id as event_id, f.* from (select ${id} as id) i cross join lateral ${incidentFiguresOf(sql`${teamId}`, sql`i.id`)} f
      where i.id is not null)
    select ${pageJson(sql`${teamId}`, sql`p.event_id`, incidentEventsMax)} as page`
  const [found] = await postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
  return found?.page?.map(rowOf)[0]
}

export type IncidentKind = { readonly classification_key: string; readonly count: number }

/** Lists the most frequent kinds of the incidents that pass the filters. */
export async function listKinds(
  postgres: Postgres,
  teamId: number,
  query: EventQuery,
): Promise<IncidentKind[]> {
  const { ctes, rows } = incidentsIn(teamId, query)
  const statement = sql<IncidentKind>`
    with ${sql.join([...ctes, sql`found as (${rows})`])}
    select classification_key, count(*) as count from found
    group by classification_key order by count(*) desc, classification_key limit ${query.limit}`
  return await postgres.inTeam(teamId, async (trx) => (await statement.execute(trx)).rows)
}

/** The incident of an event, for `include=incident`. */
export type EventIncidentRow = {
  readonly eventId: string
  readonly id: string
  readonly sources: readonly string[]
  readonly event_count: number
}

export async function listIncidentsOfEvents(
  db: Db | Trx,
  teamId: number,
  eventIds: readonly string[],
): Promise<EventIncidentRow[]> {
  const { rows } = await sql<EventIncidentRow>`
    select t.event_id as "eventId", s.* from team_events t cross join lateral (
      select coalesce(t.incident, t.event_id) as id, array_agg(distinct f.source_key) as sources, count(*)::integer as event_count
      from (${membersOf(sql`${teamId}`, sql`coalesce(t.incident, t.event_id)`)}) m
        join team_event_facets f on f.team_id = ${teamId} and f.id = m.facet) s
    where t.team_id = ${teamId} and t.event_id = any(${eventIds}::text[])`.execute(db)
  return rows
}

/**
 * The content of messages about an incident. `reports`: the last messages about it, and about the incidents merged into
 * it.
 */
export type ReportedIncident = Omit<IncidentFigures, 'incident_id'> & {
  readonly id: string
  readonly classification_key: string
  readonly network: string | null
  readonly flags: number
  readonly reports: readonly IncidentFigures[]
}

export type IncidentFigures = {
  readonly team_id: number
  readonly incident_id: string
  readonly start_at: Date
  readonly end_at: Date | null
  readonly affected_bps: number
  readonly affected_pps: number
  readonly event_count: number
  readonly sources: readonly string[]
}

type TeamEventKey = { readonly team_id: number; readonly event_id: string }

/** Returns the incidents of the events, ordered by team and id. As the owner: of all teams. */
export async function listReportedIncidents(
  trx: Trx,
  events: readonly TeamEventKey[],
): Promise<ReportedIncident[]> {
  const [team, id] = [sql`g.team_id`, sql`g.id`]
  type Row = Omit<ReportedIncident, 'reports'> & { readonly reports: readonly StoredFigures[] | null }
  const { rows } = await sql<Row>`
    select g.team_id, g.id, f.*, s.*, (
      select json_agg(r) from incident_reports r where r.team_id = g.team_id
        and r.incident_id in (select event_id from (${membersOf(team, id)}) m)) as reports
    from (
        select distinct t.team_id, coalesce(t.incident, t.event_id) as id
        from ${unnestRows(events, { team_id: 'integer', event_id: 'text' }, { few: true })}
          join team_events t on t.team_id = n.team_id and t.event_id = n.event_id) g
      cross join lateral ${incidentFiguresOf(team, id)} f
      cross join lateral (
        select count(*)::integer as event_count, array_agg(distinct c.source_key) as sources, max(m.flags) as flags,
          (array_agg(m.affected_network::text order by family(m.affected_network), masklen(m.affected_network), m.affected_network))[1] as network
        from (${membersOf(team, id)}) m join team_event_facets c on c.team_id = g.team_id and c.id = m.facet) s
    order by g.team_id, g.id`.execute(trx)
  return rows.map((row) => ({ ...row, reports: (row.reports ?? []).map(figuresOfJson) }))
}

type StoredFigures = Omit<IncidentFigures, 'start_at' | 'end_at'> & {
  readonly start_at: string
  readonly end_at: string | null
}

const figuresOfJson = (row: StoredFigures): IncidentFigures => ({
  ...row,
  start_at: new Date(row.start_at),
  end_at: row.end_at === null ? null : new Date(row.end_at),
})

export async function saveReports(trx: Trx, rows: readonly IncidentFigures[]): Promise<void> {
  if (rows.length === 0) return
  const stored = rows.map((row) => ({ ...row, sources: JSON.stringify(row.sources) }))
  await sql`
    insert into incident_reports (team_id, incident_id, start_at, end_at, affected_bps, affected_pps, event_count, sources)
    select team_id, incident_id, start_at, end_at, affected_bps, affected_pps, event_count,
      array(select json_array_elements_text(sources::json))
    from ${unnestRows(stored, {
      team_id: 'integer',
      incident_id: 'text',
      start_at: 'timestamptz',
      end_at: 'timestamptz',
      affected_bps: 'bigint',
      affected_pps: 'bigint',
      event_count: 'integer',
      sources: 'text',
    })}
    on conflict (team_id, incident_id) do update set start_at = excluded.start_at, end_at = excluded.end_at,
      affected_bps = excluded.affected_bps, affected_pps = excluded.affected_pps, event_count = excluded.event_count,
      sources = excluded.sources, reported = now()`.execute(trx)
}

export async function deleteReports(
  trx: Trx,
  rows: readonly Pick<IncidentFigures, 'team_id' | 'incident_id'>[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    delete from incident_reports r using ${unnestRows(rows, { team_id: 'integer', incident_id: 'text' })}
    where r.team_id = n.team_id and r.incident_id = n.incident_id`.execute(trx)
}
