// The SQL of comparing zones after a restore, and of serials that name servers have seen. As the owner, across all teams.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'

export type ComparedZone = {
  readonly name: ZoneName
  readonly serial: Serial
  readonly teamId: number | null
  readonly isCatalog: boolean
  /** A secondary zone has the serial of its primary. */
  readonly isPrimary: boolean
}

export async function listComparedZones(db: Db): Promise<ComparedZone[]> {
  const { rows } = await sql<Omit<ComparedZone, 'serial'> & { serial: number }>`
    select name, serial::float8 as serial, team_id as "teamId", is_catalog as "isCatalog", kind = 'primary' as "isPrimary"
    from dns_zones where published is not null and serial is not null and withdrawn is null and deleted is null
    order by id`.execute(db)
  return rows.map(({ serial, ...row }) => ({ ...row, serial: toSerial(serial) }))
}

/**
 * Sets the serial that name servers have, so that the next publication is after it. Its steps do not start from the
 * contents of these servers, so they transfer the whole zone.
 */
export async function raiseSerial(trx: Trx, name: ZoneName, serial: Serial): Promise<void> {
  await sql`
    with raised as (
      update dns_zones set serial = ${serial},
        resign_requested = case when is_catalog then resign_requested else date_trunc('milliseconds', now()) end
      where name = ${name} and deleted is null and kind = 'primary' and published is not null returning id)
    delete from dns_transfers t using raised where t.zone_id = raised.id`.execute(trx)
}
