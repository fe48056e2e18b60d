// The SQL that links ports to the interfaces that their devices list.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'

/**
 * Links the ports of one device, or all. A port whose interface no device has listed has none. Only interfaces of ports have counters: one
 * that has some was another port's, and begins again.
 */
export async function linkPorts(trx: Trx, deviceId: number | null = null): Promise<void> {
  await sql`
    with linked as (
      update ports p set interface_id = n.id,
        linked_at = case when p.interface_id is null and c.interface_id is null then p.linked_at else now() end
      from ports o left join interfaces n on n.device_id = o.device_id and n.key = o.interface_key
        left join interface_counters c on c.interface_id = n.id
      where o.id = p.id and (${deviceId}::integer is null or p.device_id = ${deviceId}::integer)
        and p.interface_id is distinct from n.id
      returning p.interface_id)
    delete from interface_counters c using linked l where c.interface_id = l.interface_id`.execute(trx)
}
