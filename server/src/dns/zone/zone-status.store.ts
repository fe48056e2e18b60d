// The status of zones in SQL: the same as `zoneStatus`, for filters, orders and the messages of changes.
import { sql, type RawBuilder } from 'kysely'
import type { ZoneStatus } from '@pharos/contract/dns/zone'
import type { Trx } from '../../db/postgres.ts'
import { recordType } from '../../net/dns/type.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { ZoneFacts } from './zone-status.ts'
import { shownZoneName } from './zone-name.ts'
import type { Zone } from './zone.ts'

/** For the row `z` of dns_zones: whether it is deleted, and why it is still on the name servers. */
export const deletionOf: RawBuilder<ZoneFacts['deletion']> = sql`
  case when z.deleted is null then 'none'
    when z.withdrawn is not null or z.claimed is null or z.published is null then 'gone'
    when z.deletion_held is not null then 'held' else 'leaving' end`

/** The status of the row `z` of dns_zones. */
export const statusOfZone: RawBuilder<ZoneStatus> = sql`
  case ${deletionOf}
    when 'gone' then 'ok' when 'leaving' then 'updating' when 'held' then 'error'
    else case
      when z.status in ('pending_verification', 'error') then z.status
      when z.dnssec = 'error' or exists (
        select from dns_delegations g
        where g.zone_id = z.id and g.status in ('elsewhere', 'absent') and g.delegated_seen is not null)
        or exists (
          select from dns_aliases a join dns_recordsets r on r.zone_id = a.zone_id and r.name_key = a.name_key
          where a.zone_id = z.id and a.is_unserved and r.type = ${sql.lit(recordType.ALIAS)}) then 'error'
      else z.status end
  end`

type StatusRow = Pick<Zone, 'id' | 'teamId' | 'name'> & {
  readonly serial: number | null
  readonly status: ZoneStatus
}

/** Returns the status of these zones. */
async function readStatuses(trx: Trx, ids: readonly number[]): Promise<StatusRow[]> {
  const { rows } = await sql<StatusRow>`
    select z.id, z.team_id as "teamId", z.name, z.serial::float8 as serial, ${statusOfZone} as status
    from dns_zones z where z.id = any(${ids as number[]}) order by z.id`.execute(trx)
  return rows
}

/** Runs `work`, which may change the status of these zones, and writes messages for the zones whose status changed. */
export async function withStatusMessages<Result>(
  trx: Trx,
  ids: readonly number[],
  now: Date,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = new Map((await readStatuses(trx, ids)).map(({ id, status }) => [id, status]))
  const result = await work()
  await writeStatusMessages(trx, ids, before, now)
  return result
}

/** Writes a message for each zone whose status is another one than before. */
async function writeStatusMessages(
  trx: Trx,
  ids: readonly number[],
  before: ReadonlyMap<number, ZoneStatus>,
  now: Date,
): Promise<void> {
  const rows = await readStatuses(trx, ids)
  await writeMessages(
    trx,
    rows.flatMap(({ id, teamId, name, serial, status: after }) => {
      const former = before.get(id)
      if (teamId === null || former === undefined || former === after) return []
      const data = {
        zone_id: id,
        name: shownZoneName(name),
        serial,
        before: former,
        after,
        at: now.toISOString(),
      }
      return [{ teamId, type: 'zone.status_changed' as const, data }]
    }),
  )
}
