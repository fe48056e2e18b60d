// Deletes rows whose time has passed: deleted zones after seven days, once they have left the catalog, and old versions of zones.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'

/** Days for which a deleted zone can be restored. */
const keptDays = 7
const rowsPerDelete = 5_000

/** Whether a deleted zone is still in the catalog zone, or has not been looked at. */
export async function hasDeleted(db: Db): Promise<boolean> {
  const { rows } = await sql`/* kept */
    select from dns_zones where deleted is not null and withdrawn is null and not is_catalog limit 1`.execute(
    db,
  )
  return rows.length > 0
}

/**
 * Deletes expired rows, in small transactions. Unpublished versions stay at any age, and so does the newest expired
 * version: a rollback can return to it.
 */
export async function purge(
  db: Db,
  signal: AbortSignal,
): Promise<{ readonly zones: number; readonly versions: number }> {
  const deleted = await sql`
    delete from dns_zones where deleted < now() - make_interval(days => ${keptDays}) and withdrawn is not null`.execute(
    db,
  )
  let versions = 0
  for (let more = true; more && !signal.aborted;) {
    const { numAffectedRows = 0n } = await sql`
      delete from dns_versions v using (
        select v.zone_id, v.version from dns_versions v join dns_zones z on z.id = v.zone_id
          cross join lateral (select now() - make_interval(days => coalesce((z.settings ->> 'history_days')::integer,
            (select d.history_days from dns_defaults d), 90)) as time) due
        where v.at < due.time and v.version <= z.published_version
          and exists (select from dns_versions n where n.zone_id = v.zone_id and n.version > v.version and n.at < due.time)
        limit ${rowsPerDelete}) old
      where v.zone_id = old.zone_id and v.version = old.version`.execute(db)
    versions += Number(numAffectedRows)
    more = numAffectedRows === BigInt(rowsPerDelete)
  }
  return { zones: Number(deleted.numAffectedRows ?? 0n), versions }
}
