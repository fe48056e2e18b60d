// The SQL of relationships between events and the resources of teams. The caller has locked the events.
import { sql } from 'kysely'
import type { MatchResource, MatchType } from '@pharos/contract/events/event'
import { columns, type RowOf } from '../../db/columns.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'
import type { EventMatch, StoredMatch } from './match.ts'

const matchColumns = columns('event_relationships', 'r', ['id', 'event_id', 'team_id'], {
  resource: sql<MatchResource>`r.match_resource`,
  resource_id: sql<number>`r.match_resource_id`,
  name: sql<string>`r.match_resource_name`,
  link: sql<string>`r.match_resource_link`,
  type: sql<MatchType>`r.match_type`,
  value: sql<string>`r.match_value`,
})

type MatchRow = RowOf<typeof matchColumns>

const matchOf = ({ event_id, team_id, resource_id, ...row }: MatchRow): StoredMatch => ({
  ...row,
  eventId: event_id,
  teamId: team_id,
  resourceId: resource_id,
})

export async function listRelationships(trx: Trx, eventIds: readonly string[]): Promise<StoredMatch[]> {
  const { rows } = await sql<MatchRow>`
    select ${matchColumns} from event_relationships r where r.event_id = any(${eventIds}) order by r.id`.execute(
    trx,
  )
  return rows.map(matchOf)
}

const types = {
  event_id: 'text',
  team_id: 'integer',
  match_resource: 'text',
  match_resource_id: 'integer',
  match_resource_name: 'text',
  match_resource_link: 'text',
  match_type: 'text',
  match_value: 'text',
}

/** Inserts relationships, and returns them with their ids. The ids are in the order of the matches. */
export async function insertRelationships(trx: Trx, matches: readonly EventMatch[]): Promise<StoredMatch[]> {
  if (matches.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    insert into event_relationships (event_id, team_id, match_resource, match_resource_id, match_resource_name,
      match_resource_link, match_type, match_value)
    select event_id, team_id, match_resource, match_resource_id, match_resource_name, match_resource_link, match_type,
      match_value
    from ${unnestRows(matches.map(rowOf), types)}
    order by place
    returning id`.execute(trx)
  const ids = rows.map(({ id }) => id).toSorted((a, b) => a - b)
  return matches.map((match, at) => ({ ...match, id: ids[at]! }))
}

/** Saves the names of resources, which change while the relationship remains. */
export async function saveRelationships(trx: Trx, matches: readonly StoredMatch[]): Promise<void> {
  if (matches.length === 0) return
  await sql`
    update event_relationships r set match_resource_name = n.match_resource_name,
      match_resource_link = n.match_resource_link, match_value = n.match_value
    from ${unnestRows(
      matches.map((match) => ({ ...rowOf(match), id: match.id })),
      { ...types, id: 'bigint' },
    )} where r.id = n.id`.execute(trx)
}

export async function deleteRelationships(trx: Trx, matches: readonly StoredMatch[]): Promise<void> {
  if (matches.length === 0) return
  await sql`delete from event_relationships where id = any(${matches.map(({ id }) => id)}::bigint[])`.execute(
    trx,
  )
}

/** Lists the next events, by id, that are related to the resource. */
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

function rowOf(match: EventMatch) {
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
