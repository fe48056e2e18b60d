// The SQL of decisions about a restore. As the owner of the tables, of all teams.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'

/** Returns the ids of all regions by slug. */
export async function listRegionIds(trx: Trx): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: number; slug: string }>`select id, slug from regions`.execute(trx)
  return new Map(rows.map(({ id, slug }) => [slug, id]))
}

type Ended = { readonly id: number; readonly teamId: number; readonly host: string }

/** Ends these black holes, which no router has. */
export async function endBlackholes(trx: Trx, ids: readonly number[]): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    update blackholes set ended = now() where id = any(${ids}::integer[]) and ended is null
    returning id, team_id as "teamId", host::text as host`.execute(trx)
  return rows
}

/** The announcement is on no router there: otherwise the guard would count its withdrawal. */
export async function forgetAnnounced(
  trx: Trx,
  announcementId: number,
  regionIds: readonly number[],
): Promise<void> {
  await sql`
    update announcement_regions set announced_origin = null
    where announcement_id = ${announcementId} and region_id = any(${regionIds}::integer[])`.execute(trx)
}
