// The SQL of relationships between events and what teams hold. Their events are locked by the caller.
import { sql } from 'kysely'
import type { MatchResource, MatchType } from '@pharos/contract/analysis'
import type { Db, Trx } from '../db/postgres.ts'
import type { Match } from './match.ts'

/** A match of an event with a resource of a team, before it has an id. */
export type EventMatch = Omit<Match, 'location'> & { readonly eventId: string }
export type StoredMatch = EventMatch & { readonly id: number }

type RelationshipRow = {
  id: number
  event_id: string
  team_id: number
  match_resource: MatchResource
  match_resource_id: number
  match_resource_name: string
  match_resource_link: string
  match_type: MatchType
  match_value: string
}

export async function listRelationships(trx: Trx, eventIds: readonly string[]): Promise<StoredMatch[]> {
  const { rows } = await sql<RelationshipRow>`
    select id, event_id, team_id, match_resource, match_resource_id, match_resource_name, match_resource_link,
      match_type, match_value
    from event_relationships where event_id = any(${eventIds}) order by id`.execute(trx)
  return rows.map(matchOf)
}

/** The ids that the database gave them come back with them. */
export async function insertRelationships(trx: Trx, matches: readonly EventMatch[]): Promise<StoredMatch[]> {
  if (matches.length === 0) return []
  const rows = matches.map((match) => ({ id: 0, ...rowOf(match) }))
  const inserted = await sql<RelationshipRow>`
    insert into event_relationships (event_id, team_id, match_resource, match_resource_id, match_resource_name,
      match_resource_link, match_type, match_value)
    select event_id, team_id, match_resource, match_resource_id, match_resource_name, match_resource_link, match_type,
      match_value
    from ${recordset(rows)}
    returning id, event_id, team_id, match_resource, match_resource_id, match_resource_name, match_resource_link,
      match_type, match_value`.execute(trx)
  return inserted.rows.map(matchOf)
}

/** What a resource is called may change while the relationship stays. */
export async function saveRelationships(trx: Trx, matches: readonly StoredMatch[]): Promise<void> {
  if (matches.length === 0) return
  await sql`
    update event_relationships r set match_resource_name = n.match_resource_name,
      match_resource_link = n.match_resource_link, match_value = n.match_value
    from ${recordset(matches.map((match) => ({ ...rowOf(match), id: match.id })))} where r.id = n.id`.execute(
    trx,
  )
}

export async function deleteRelationships(trx: Trx, matches: readonly StoredMatch[]): Promise<void> {
  if (matches.length === 0) return
  await sql`delete from event_relationships where id = any(${matches.map(({ id }) => id)}::bigint[])`.execute(
    trx,
  )
}

/** The next events, by id, that are related to the resource. */
export async function listEventsOfResource(
  db: Db,
  resource: MatchResource,
  resourceId: number,
  afterEventId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ event_id: string }>`
    select distinct event_id from event_relationships
    where match_resource = ${resource} and match_resource_id = ${resourceId} and event_id > ${afterEventId}
    order by event_id limit ${limit}`.execute(db)
  return rows.map((row) => row.event_id)
}

function recordset(rows: readonly RelationshipRow[]) {
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as n(id bigint, event_id text, team_id integer,
    match_resource text, match_resource_id integer, match_resource_name text, match_resource_link text,
    match_type text, match_value text)`
}

function rowOf(match: EventMatch): Omit<RelationshipRow, 'id'> {
  return {
    event_id: match.eventId,
    team_id: match.teamId,
    match_resource: match.resource,
    match_resource_id: match.resourceId,
    match_resource_name: match.name,
    match_resource_link: match.link,
    match_type: match.type,
    match_value: match.value,
  }
}

function matchOf(row: RelationshipRow): StoredMatch {
  return {
    id: row.id,
    eventId: row.event_id,
    teamId: row.team_id,
    resource: row.match_resource,
    resourceId: row.match_resource_id,
    name: row.match_resource_name,
    link: row.match_resource_link,
    type: row.match_type,
    value: row.match_value,
  }
}
