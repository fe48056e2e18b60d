// Rows of the inventory with known ids for generated requests, restored after requests that use them up.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'
import type { Holder } from './fixtures.ts'

/** A reserved one, and one that waits for a letter. */
export const crossConnectIds = [900_001, 900_002] as const
export const attachmentIds = [900_001, 900_002, 900_003] as const
/** A device that a driver reads. */
export const readDeviceId = 900_001

export async function restoreInventory(db: Db, { teamId, serviceId, deviceId }: Holder): Promise<void> {
  await sql`
    insert into cross_connects (id, team_id, service_id, circuit_id, name, status) overriding system value
    select n.id, ${teamId}, ${serviceId}, 'XC ' || n.id, 'X', n.status
    from unnest(${[...crossConnectIds]}::integer[], array['reserved', 'awaiting_loa']) n (id, status)
    on conflict (id) do update set status = excluded.status`.execute(db)
  await sql`
    insert into attachments (id, subject_kind, subject_id, filename, media_type, kind, sha256, content, created_by)
      overriding system value
    select id, 'device', ${String(deviceId)}, 'a.txt', 'application/octet-stream', 'other', sha256('a'), 'a', 'operator'
    from unnest(${[...attachmentIds]}::integer[]) id on conflict do nothing`.execute(db)
  await sql`
    insert into devices (id, name, driver, settings) overriding system value
    values (${readDeviceId}, 'read', 'sandbox', '{"interfaces": []}') on conflict do nothing`.execute(db)
}
