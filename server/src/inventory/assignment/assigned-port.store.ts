// The SQL of the ports of interfaces with their current teams, for messages to these teams.
import type { InterfaceState } from '@pharos/contract/inventory/device'
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../../db/postgres.ts'

export type AssignedPort = {
  readonly interfaceId: number | null
  readonly teamId: number
  readonly port: {
    readonly port_id: number
    readonly name: string
    readonly circuit_id: string
    readonly device_name: string
    readonly service_id: number
  }
  readonly adminStatus: InterfaceState
  readonly isInMaintenance: boolean
  /** Time of the transaction. */
  readonly at: Date
}

/** Returns the ports by interface, without interfaces that are not sold. */
export async function listPortsOf(
  trx: Trx,
  interfaceIds: readonly number[],
): Promise<ReadonlyMap<number, readonly AssignedPort[]>> {
  const rows = await listAssigned(trx, sql`p.interface_id = any(${interfaceIds}::integer[])`)
  return Map.groupBy(rows, ({ interfaceId }) => interfaceId!)
}

/** Returns the ports by their id, without ports that are not sold. */
export async function listPortsById(
  trx: Trx,
  portIds: readonly number[],
): Promise<ReadonlyMap<number, readonly AssignedPort[]>> {
  const rows = await listAssigned(trx, sql`p.id = any(${portIds}::integer[])`)
  return Map.groupBy(rows, ({ port }) => port.port_id)
}

async function listAssigned(trx: Trx, condition: RawBuilder<unknown>): Promise<AssignedPort[]> {
  const { rows } = await sql<AssignedPort>`
    select p.interface_id as "interfaceId", a.team_id as "teamId", coalesce(i.admin, 'unknown') as "adminStatus", now() as at,
      coalesce(d.maintenance_until > now(), false) as "isInMaintenance",
      json_build_object('port_id', p.id, 'name', p.name, 'circuit_id', p.circuit_id, 'device_name', d.name,
        'service_id', a.service_id) as port
    from ports p join port_assignments a on a.port_id = p.id and a.valid @> now() join devices d on d.id = p.device_id
      left join interfaces i on i.id = p.interface_id
    where ${condition} order by p.id`.execute(trx)
  return rows
}
