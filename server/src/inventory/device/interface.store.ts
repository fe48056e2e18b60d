// The SQL of the interfaces of devices, as a team sees them. Every statement is limited to a team.
import type { InterfaceState, listInterfacesRoute } from '@pharos/contract/inventory/device'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import { heldPorts, seenDevices } from '../assignment/assignment.store.ts'
import { containing, stateNow } from './device.store.ts'
import { typeNumbers } from './interface-type.ts'

const interfaceColumns = columns(
  'interfaces',
  'i',
  [
    'id',
    'name',
    'alias',
    'type',
    'speed_bps',
    'mtu',
    'mac',
    'addresses',
    'lag_id',
    'last_change',
    'in_errors',
    'out_errors',
    'in_discards',
    'out_discards',
  ],
  {
    admin: sql<InterfaceState>`i.admin_now`,
    oper: sql<InterfaceState>`i.oper_now`,
    port_id: sql<number | null>`i.port_id`,
  },
)
export type InterfaceRow = RowOf<typeof interfaceColumns>

/**
 * Existing interfaces of the device: the team's ports with the members of its LAGs, or all if the device belongs to the
 * team. 404 unless the team may read the device.
 */
export const listInterfaceRows = (
  postgres: Postgres,
  teamId: number,
  deviceId: number,
  {
    name,
    admin_status,
    oper_status,
    type,
    ordering,
    ...slice
  }: Partial<QueryOf<typeof listInterfacesRoute>> &
    Pick<QueryOf<typeof listInterfacesRoute>, 'ordering' | 'limit' | 'offset'>,
): Promise<Page<InterfaceRow>> =>
  listInTeam(postgres, teamId, {
    parent: {
      name: 'device',
      statement: sql`select from ${seenDevices(teamId)} d where d.id = ${deviceId}::bigint`,
    },
    matching: sql`
      with held as (
        select p.id, p.interface_id from ${heldPorts(teamId)} p where p.device_id = ${deviceId}::bigint and p.interface_id is not null)
      select i.*, h.id as port_id, ${stateNow(sql`i.admin`)} as admin_now, ${stateNow(sql`i.oper`)} as oper_now
      from interfaces i join ${seenDevices(teamId)} s on s.id = i.device_id left join held h on h.interface_id = i.id
      where i.device_id = ${deviceId}::bigint and i.missing_surveys < 3
        and (h.id is not null or i.lag_id in (select l.interface_id from held l) or s.customer_id = ${teamId}) ${andAll(
          name && sql`lower(i.name || chr(10) || i.alias) like any(${name.map(containing)}::text[])`,
          admin_status && sql`${stateNow(sql`i.admin`)} = any(${admin_status}::text[])`,
          oper_status && sql`${stateNow(sql`i.oper`)} = any(${oper_status}::text[])`,
          type && typeNumbers(type),
        )}`,
    columns: interfaceColumns,
    order: orderBy(
      ordering,
      {
        id: sql`i.id`,
        name: sql`i.name`,
        speed_bps: sql`i.speed_bps`,
        oper_status: sql`i.oper_now`,
        last_change: sql`i.last_change`,
      },
      sql`i.id`,
    ),
    slice,
  })
