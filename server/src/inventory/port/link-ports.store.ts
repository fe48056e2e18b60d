// The SQL that links ports to the interfaces that their devices list.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'

/** Links the ports of one device, or all. A port whose interface no device has listed has none. */
export async function linkPorts(trx: Trx, deviceId: number | null = null): Promise<void> {
  await sql`
    update ports p set interface_id = n.id
    from ports o left join interfaces n on n.device_id = o.device_id and n.key = o.interface_key
    where o.id = p.id and (${deviceId}::integer is null or p.device_id = ${deviceId}::integer)
      and p.interface_id is distinct from n.id`.execute(trx)
}
