// The SQL of creating announcements, in the transaction of their team.
import { sql } from 'kysely'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { statusOf, type Clearance } from '../status/announcement.ts'
import type { Wanted } from './new-announcement.ts'

export async function readOpenSlugs(postgres: Postgres, teamId: number): Promise<string[]> {
  const query = sql<{ slug: string }>`select slug from regions where open order by slug collate "C"`
  const rows = await postgres.readInTeam(teamId, query)
  return rows.map(({ slug }) => slug)
}

/** Counts the team's announcements. Other requests that create some for the team wait until the end of the transaction. */
export async function countTeamAnnouncements(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('announcements of a team'), ${teamId})`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from announcements where team_id = ${teamId} and deleted is null`.execute(trx)
  return rows[0]!.count
}

export type Claims = {
  /** An announcement of the team that overlaps the prefix. */
  readonly own: { readonly id: number; readonly prefix: Prefix } | null
  /** The prefix, or a covering prefix, belongs to another team. */
  readonly taken: boolean
}

/** Returns the conflicting announcements of each prefix, in the order of the prefixes. */
export async function readClaims(trx: Trx, teamId: number, prefixes: readonly Prefix[]): Promise<Claims[]> {
  const { rows } = await sql<{ own: { id: number; prefix: string } | null; taken: boolean }>`
    select (select json_build_object('id', a.id, 'prefix', a.prefix) from announcements a
        where a.team_id = ${teamId} and a.deleted is null and a.prefix && n.prefix order by a.prefix limit 1) as own,
      prefix_is_claimed(${teamId}, n.prefix) as taken
    from unnest(${prefixes}::cidr[]) with ordinality n (prefix, place)
    order by n.place`.execute(trx)
  return rows.map(({ own, taken }) => ({
    own: own && { id: own.id, prefix: parsePrefix(own.prefix) },
    taken,
  }))
}

const atRest = { enabled: false, suspended: false, regions: [] } as const

/** Returns the ids, in order. The announcements are disabled, and configured in the named regions. */
export async function insertAnnouncements(
  trx: Trx,
  teamId: number,
  wanted: readonly (Wanted & { readonly clearance: Clearance })[],
): Promise<number[]> {
  const inserted = await trx
    .insertInto('announcements')
    .values(
      wanted.map(({ prefix, originAsn, details, clearance }) => ({
        ...details,
        team_id: teamId,
        prefix,
        origin_asn: originAsn,
        managed_by: 'team',
        status: statusOf({ ...atRest, clearance }),
        clearance,
      })),
    )
    .returning('id')
    .execute()
  const ids = inserted.map(({ id }) => id).toSorted((a, b) => a - b)
  const places = wanted.flatMap(({ regions }, at) => regions.map((slug) => ({ id: ids[at], slug })))
  await sql`
    insert into announcement_regions (announcement_id, region_id, team_id, configured)
    select n.id, r.id, ${teamId}, true
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as n (id integer, slug text)
    join regions r on r.slug = n.slug`.execute(trx)
  return ids
}
