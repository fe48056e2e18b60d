// The SQL that links ports to the interfaces in their devices' lists, and keeps the facts that bills need.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { counterNames } from '../usage/reading.ts'

/**
 * Links the ports of one device, or all. A port whose interface no device lists has no interface. Only interfaces of
 * ports have counters: existing ones belonged to another port, and start again. `change`: a change of interfaces or
 * ports to make before.
 */
export function linkPorts<T = void>(
  trx: Trx,
  deviceId: number | null = null,
  change: () => Promise<T> = async () => undefined as T,
): Promise<T> {
  return keepingFacts(trx, deviceId, async () => {
    const changed = await change()
    await sql`
      with linked as (
        update ports p set interface_id = n.id,
          interface_since = case when p.interface_id is null and c.interface_id is null then p.interface_since else now() end
        from ports o left join interfaces n on n.device_id = o.device_id and n.key = o.interface_key
          left join interface_counters c on c.interface_id = n.id
        where o.id = p.id and (${deviceId}::integer is null or p.device_id = ${deviceId}::integer)
          and p.interface_id is distinct from n.id
        returning p.interface_id)
      delete from interface_counters c using linked l where c.interface_id = l.interface_id`.execute(trx)
    return changed
  })
}

/**
 * Runs a change of interfaces or ports, and saves the facts of ports that the change replaces, of one device or all.
 * Facts of a port without an interface are not saved: it has no counters. The current minute of the port on its former
 * interface is stored.
 */
export async function keepingFacts<T>(
  trx: Trx,
  deviceId: number | null,
  change: () => Promise<T>,
): Promise<T> {
  const ofPorts = sql`from port_facts() f join ports p on p.id = f.port_id
    where upper_inf(f.valid) and (${deviceId}::integer is null or p.device_id = ${deviceId}::integer)`
  const { rows: before } = await sql`
    select f.port_id, f.interface_id, f.lag_port_id, f.speed_bps, f.bits, lower(f.valid) as since,
      (select coalesce(c.open, c.held -> 'open') from interface_counters c where c.interface_id = f.interface_id) as open ${ofPorts}
      and f.interface_id is not null`.execute(trx)
  const result = await change()
  if (before.length === 0) return result
  const old = JSON.stringify(before)
  await sql`
    insert into former_port_facts (port_id, valid, interface_id, lag_port_id, speed_bps, bits)
    select b.port_id, tstzrange(b.since, now()), b.interface_id, b.lag_port_id, b.speed_bps, b.bits
    from jsonb_to_recordset(${old}::jsonb) as b (
      port_id integer, interface_id integer, lag_port_id integer, speed_bps bigint, bits integer, since timestamptz)
      join port_facts() f on f.port_id = b.port_id and upper_inf(f.valid)
    where (f.interface_id, f.lag_port_id) is distinct from (b.interface_id, b.lag_port_id)
      and (b.since is null or b.since < now())`.execute(trx)
  await sql`
    insert into port_samples (port_id, minute, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in, errors_out,
      discards_in, discards_out)
    select b.port_id, to_timestamp((b.open ->> 'startMs')::bigint / 1000), (b.open ->> 'coveredMs')::integer, ${sql.join(
      counterNames.map(
        (name) => sql`case when v.${sql.ref(name)} <= 9223372036854775807 then v.${sql.ref(name)} end`,
      ),
    )}
    from jsonb_to_recordset(${old}::jsonb) as b (port_id integer, interface_id integer, open jsonb)
      join ports p on p.id = b.port_id and p.interface_id is distinct from b.interface_id
      cross join jsonb_to_record(b.open -> 'values') as v (${sql.join(counterNames.map((name) => sql`${sql.ref(name)} numeric`))})
    where jsonb_typeof(b.open) = 'object'
    on conflict do nothing`.execute(trx)
  return result
}
