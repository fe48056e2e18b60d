// The SQL of facets: every combination that a team's events have had gets an id, once.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { Facet } from './facet.ts'

export type TeamFacet = Facet & { readonly team_id: number }

/** A team with this many facets gets no more descriptions: events with other descriptions are searched directly. */
const facetsMax = 500

/** Returns the id of each facet, and adds missing ones. Call `lockTeams` first. */
export async function saveFacets(trx: Trx, facets: readonly TeamFacet[]): Promise<number[]> {
  const byKey = new Map(facets.map((facet) => [keyOf(facet), facet]))
  const ids = await findFacets(trx, [...byKey.values()])
  const added = [...byKey.values()].filter((facet) => !ids.has(keyOf(facet)))
  if (added.length > 0) {
    for (const [key, id] of await addFacets(trx, added)) ids.set(key, id)
  }
  return facets.map((facet) => ids.get(keyOf(facet))!)
}

const keyOf = ({ team_id, flags, status, classification_key, source_key, description }: TeamFacet): string =>
  JSON.stringify([team_id, flags, status, classification_key, source_key, description])

async function findFacets(trx: Trx, facets: readonly TeamFacet[]): Promise<Map<string, number>> {
  if (facets.length === 0) return new Map()
  const { rows } = await sql<TeamFacet & { id: number }>`
    select f.id, f.team_id, f.flags, f.status, f.classification_key, f.source_key, f.description
    from json_to_recordset(${JSON.stringify(facets)}::json)
      as n(team_id integer, flags integer, status integer, classification_key text, source_key text, description text)
    join team_event_facets f
      on (f.team_id, f.flags, f.status, f.classification_key, f.source_key)
        = (n.team_id, n.flags, n.status, n.classification_key, n.source_key)
      and f.description is not distinct from n.description`.execute(trx)
  return new Map(rows.map((row) => [keyOf(row), row.id]))
}

/** Returns their ids by key; for a full team the ids of the facets without the description. */
async function addFacets(trx: Trx, facets: readonly TeamFacet[]): Promise<Map<string, number>> {
  const full = await listFullTeams(
    trx,
    facets.map(({ team_id }) => team_id),
  )
  const stored = facets.map((facet) => (full.has(facet.team_id) ? { ...facet, description: null } : facet))
  await sql`
    insert into team_event_facets (team_id, flags, status, classification_key, source_key, description)
    select team_id, flags, status, classification_key, source_key, description
    from json_populate_recordset(null::team_event_facets, ${JSON.stringify(stored)}::json)
    on conflict do nothing`.execute(trx)
  const ids = await findFacets(trx, stored)
  return new Map(facets.map((facet, at) => [keyOf(facet), ids.get(keyOf(stored[at]!))!]))
}

async function listFullTeams(trx: Trx, teamIds: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ team_id: number }>`
    select team_id from team_event_facets where team_id = any(${[...new Set(teamIds)]}::integer[])
    group by team_id having count(*) >= ${facetsMax}`.execute(trx)
  return new Set(rows.map(({ team_id }) => team_id))
}

/** Returns the keys of the sources that reported the team's events, ordered by number of events. */
export async function listEventSources(db: Db, teamId: number): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select f.source_key as key
    from team_event_facets f
      join team_event_counts c on c.team_id = f.team_id and c.facet = f.id and c.measure = 'all'
    where f.team_id = ${teamId} group by 1 having sum(c.events) > 0 order by sum(c.events) desc, 1`.execute(
    db,
  )
  return rows.map(({ key }) => key)
}
