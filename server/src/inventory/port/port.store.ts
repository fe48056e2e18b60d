// The SQL of the ports that belong to a team now. Every statement is limited to a team.
import type { InterfaceState } from '@pharos/contract/inventory/device'
import type { listPortsRoute } from '@pharos/contract/inventory/port'
import type { QueryOf } from '@pharos/contract/route'
import type { Wiring } from '@pharos/contract/inventory/wiring'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderKeys, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Limits } from '../../operation/limits.ts'
import { stateNow } from '../device/device.store.ts'
import { lagType } from '../device/interface-type.ts'
import { locationColumn } from '../holding/location.store.ts'
import { completeMs } from '../usage/bucket.ts'
import { heldPorts, interfaceSince } from '../assignment/assignment.store.ts'

/**
 * Rates of the last measured bucket of 5 minutes, which is also the last bucket of the usage of the port. The customer
 * receives what the device sends.
 */
const ratesOf = (alias: string) => sql<{ in_bps: number | null; out_bps: number | null }>`(
  select json_build_object('in_bps', max(b.in_bps), 'out_bps', max(b.out_bps)) from (
    select floor(sum(s.octets_out) * 8000 / sum(s.covered_ms)) as in_bps, floor(sum(s.octets_in) * 8000 / sum(s.covered_ms)) as out_bps
    from port_samples s where s.port_id = ${sql.ref(`${alias}.id`)} and s.minute >= now() - interval '12 minutes'
    group by date_bin('5 minutes', s.minute, '2000-01-01T00:00:00Z') having sum(s.covered_ms) >= ${sql.lit(completeMs)}
    order by min(s.minute) desc limit 1) b)`

const portColumns = (teamId: number) =>
  columns('ports', 'p', ['id', 'name', 'circuit_id', 'speed_bps', 'media', 'description'], {
    device_id: sql<number>`p.device_id`,
    device_name: sql<string>`p.device_name`,
    admin_status: sql<InterfaceState>`p.admin_status`,
    oper_status: sql<InterfaceState>`p.oper_status`,
    lag_id: sql<
      number | null
    >`(select l.id from ${heldPorts(teamId)} l where l.interface_id = p.lag_interface_id)`,
    is_lag: sql<boolean>`p.is_lag`,
    service_id: sql<number>`p.service_id`,
    last_change: sql<Date | null>`p.last_change`,
    seen: sql<Date | null>`p.seen`,
    wiring: sql<Wiring>`json_build_object('panel', p.panel, 'module', p.module, 'position', p.position)`,
    location: locationColumn('p'),
    rates: ratesOf('p'),
  })
export type PortRow = RowOf<ReturnType<typeof portColumns>>

/** The ports `p` of the team, with their device, interface and service. */
export const teamPorts = (teamId: number) => sql`
  select p.id, p.name, p.circuit_id, p.device_id, p.media, p.description, p.panel, p.module, p.position,
    coalesce(p.speed_bps, p.interface_speed_bps) as speed_bps, p.device_name, p.location_key, p.service_id,
    ${stateNow(sql`p.admin`)} as admin_status, ${stateNow(sql`p.oper`)} as oper_status, p.lag_id as lag_interface_id,
    p.interface_id, coalesce(p.type = ${sql.lit(lagType)}, false) as is_lag,
    case when p.last_change >= ${interfaceSince} then p.last_change end as last_change, p.seen, p.has_optic_warning, p.counters
  from ${heldPorts(teamId)} p cross join lateral (select p.next_poll, p.lease_until) s where p.device_id is not null`

export const listPortRows = (
  postgres: Postgres,
  teamId: number,
  {
    device_id,
    service_id,
    location,
    admin_status,
    oper_status,
    speed_bps,
    search,
    has_optic_warning,
    ordering,
    ...slice
  }: Omit<QueryOf<typeof listPortsRoute>, 'include'>,
  limits: Limits | null,
): Promise<Page<PortRow>> => {
  const { keys, order } = orderKeys(
    ordering,
    {
      id: sql`p.id`,
      name: sql`p.name`,
      circuit_id: sql`p.circuit_id`,
      device_name: sql`p.device_name`,
      speed_bps: sql`p.speed_bps`,
      oper_status: sql`p.oper_status`,
      last_change: sql`p.last_change`,
    },
    sql`p.id`,
  )
  return listInTeam(postgres, teamId, {
    matching: sql`select ${keys} from (${teamPorts(teamId)}) p where true ${andAll(
      limits && sql`p.id = any(${[...limits.ports]}::integer[])`,
      device_id && sql`p.device_id = any(${device_id}::bigint[])`,
      service_id && sql`p.service_id = any(${service_id}::bigint[])`,
      location && sql`p.location_key = any(${location}::text[])`,
      admin_status && sql`p.admin_status = any(${admin_status}::text[])`,
      oper_status && sql`p.oper_status = any(${oper_status}::text[])`,
      speed_bps && sql`p.speed_bps = any(${speed_bps}::bigint[])`,
      has_optic_warning !== undefined && sql`p.has_optic_warning = ${has_optic_warning}::boolean`,
      search !== undefined &&
        sql`strpos(lower(concat_ws(chr(10), p.name, p.circuit_id, p.description, p.device_name)), lower(${search})) > 0`,
    )}`,
    rows: (ids) => sql`select p.* from (${teamPorts(teamId)}) p where p.id = any(${ids}::integer[])`,
    columns: portColumns(teamId),
    order,
    slice,
  })
}

export async function findPort(postgres: Postgres, teamId: number, id: number): Promise<PortRow | undefined> {
  const query = sql<PortRow>`select ${portColumns(teamId)} from (${teamPorts(teamId)}) p where p.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}
