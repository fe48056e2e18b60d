// The team's data for a claim of past traffic: its prefixes, and its ports with their times.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { parsePrefix } from '../net/prefix.ts'

export type HeldPrefix = {
  readonly teamId: number
  readonly team: string
  /** 0 for an announcement. */
  readonly id: number
  readonly prefix: Prefix
}

/** Prefixes and announcements of all teams that overlap `prefix`, the most specific first. */
export async function listOverlappingHoldings(db: Db, prefix: Prefix): Promise<HeldPrefix[]> {
  const { rows } = await sql<{ team_id: number; slug: string; id: number; prefix: string }>`
    select h.team_id, t.slug, h.id, h.prefix::text as prefix from (
      select team_id, id, prefix from prefixes where prefix && ${prefix}::cidr
      union all
      select team_id, 0, prefix from announcements
      where claimed is not null and deleted is null and prefix && ${prefix}::cidr
    ) h join teams t on t.id = h.team_id
    order by masklen(h.prefix) desc, h.id desc, h.team_id`.execute(db)
  return rows.map((row) => ({
    teamId: row.team_id,
    team: row.slug,
    id: row.id,
    prefix: parsePrefix(row.prefix),
  }))
}

export type PortTime = { readonly portId: number; readonly from: number; readonly until: number }

/** Unix seconds that no row reaches. */
const forever = 2 ** 32 - 1

/** The times in which the team had a port, in Unix seconds. */
export async function listPortTimes(db: Db, teamId: number): Promise<PortTime[]> {
  const { rows } = await sql<{ port_id: number; from: number; until: number }>`
    select port_id, coalesce(ceil(extract(epoch from lower(valid))), 0)::float8 as from,
      coalesce(floor(extract(epoch from upper(valid))), ${forever})::float8 as until
    from port_assignments where team_id = ${teamId} order by port_id, valid`.execute(db)
  return rows.map((row) => ({
    portId: row.port_id,
    from: Math.max(0, row.from),
    until: Math.min(forever, row.until),
  }))
}
