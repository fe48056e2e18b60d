// The SQL of the list of all events: events of several teams, each once, and events without a team. Unlike the list of
// one team, every matching event is read and sorted. It runs as the owner, because row-level security is limited to one
// team: only the conditions on team_id separate the teams.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import { blockedBy } from '../../db/proofs.ts'
import type { UserActor } from '../../operation/operation.ts'
import { rowConditions } from './event-filter.store.ts'
import type { EventQuery } from './event-query.ts'
import {
  all,
  facetsCte,
  hasText,
  isByFacet,
  orderEventsBy,
  sortColumns,
  type EventRows,
  type Sql,
} from './event-sql.store.ts'
import { noTeam } from '../relate/team-event.store.ts'

/** Returns the teams of the user with the module, except teams that the session does not open. */
export async function listTeamsWithEvents(
  db: Db,
  { userId, sessionId }: Pick<UserActor, 'userId' | 'sessionId'>,
): Promise<number[]> {
  const { rows } = await sql<{ team_id: number }>`
    select m.team_id from memberships m join teams t on t.id = m.team_id join users u on u.id = m.user_id
      join sessions s on s.user_id = u.id and s.id = ${sessionId}::uuid
    where m.user_id = ${userId} and 'lighthouse' = any(t.enabled_modules) and ${blockedBy} is null
    order by m.team_id`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Returns whether any of the teams has former prefixes. */
export async function hasFormerHoldings(db: Db, teamIds: readonly number[]): Promise<boolean> {
  const { rows } = await sql`
    select from former_holdings where team_id = any(${teamIds}::integer[]) limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Lists the events of the teams, and events without a team on prefixes that the teams had at the time. An event of
 * several teams is returned in the view of the first, with the relationships of all.
 */
export function listEventsOfTeams(db: Db, teamIds: readonly number[], query: EventQuery): Promise<EventRows> {
  const teams = sql`team_id = any(${teamIds}::integer[])`
  const former = sql`
    select distinct e.* from former_holdings h join team_events e on e.team_id = ${noTeam}
      and e.affected_network >= h.prefix and e.affected_network <= host(broadcast(h.prefix::inet))::cidr
      and e.start_at >= h.held_from and e.start_at < h.held_until
      and not exists (select from event_networks n where n.event_id = e.event_id and not n.network <<= h.prefix)
    where h.team_id = any(${teamIds}::integer[])`
  return listFrom(
    db,
    query,
    [...teamIds, noTeam],
    [sql`select * from team_events where ${teams}`, sql`select * from (${former} offset 0) f`],
  )
}

/** Lists the events of every team and of no team. For staff. */
export function listEveryEvent(db: Db, query: EventQuery): Promise<EventRows> {
  return listFrom(db, query, null, [sql`select * from team_events where true`])
}

/** `rows`: selects from team_events that end in a condition; `teamIds`: null for all. */
async function listFrom(
  db: Db,
  query: EventQuery,
  teamIds: readonly number[] | null,
  rows: readonly Sql[],
): Promise<EventRows> {
  const { ordering, limit, offset } = query
  const byFacet = isByFacet(query)
  const found = hasText({ ...query, description: null })
  const conditions = rowConditions(query, byFacet)
  const keys = orderEventsBy(ordering)
  const passes = conditions.length === 0 ? sql`` : sql`where ${all(...conditions)}`
  const isOfTeams = teamIds === null ? sql`true` : sql`t.team_id = any(${teamIds}::integer[])`
  const { rows: answers } = await sql<EventRows>`
    with ${sql.join([
      ...(byFacet ? [facetsCte('facets', teamIds, query)] : []),
      ...(found ? [facetsCte('found_facets', teamIds, query, found)] : []),
      sql`gathered as materialized (
        select distinct on (event_id) team_id, ${sortColumns(ordering)}
        from (${sql.join(rows, sql` union all `)}) e ${passes} order by event_id, team_id)`,
      sql`page as materialized (
        select * from gathered order by ${keys} offset ${offset} limit ${limit})`,
    ])}
    select (select count(*) from gathered) as count, coalesce((
        select string_agg(e.record || ',"relationships":[' || e.relationships || ']}', ',' order by ${keys})
        from page cross join lateral (
          select t.record, (
              select coalesce(string_agg(substr(t.relationships, 2, length(t.relationships) - 2), ',' order by t.team_id), '')
              from team_events t where t.event_id = page.event_id and t.relationships <> '[]' and ${isOfTeams})
            as relationships
          from team_events t where t.team_id = page.team_id and t.event_id = page.event_id offset 0) e),
      '') as results`.execute(db)
  return answers[0]!
}
