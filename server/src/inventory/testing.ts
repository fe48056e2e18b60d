// For tests: rows of the inventory. Only tests import this file.
import { sql } from 'kysely'
import type { Postgres } from '../db/postgres.ts'

type SeededPort = {
  readonly teamId: number
  readonly serviceId: number
  readonly circuitId: string
  /** Start of the assignment; default: now. */
  readonly since?: Date
}

/** Adds a device with one interface that is a port of the service. */
export async function seedPort(
  { owner }: Postgres,
  { teamId, serviceId, circuitId, since = new Date() }: SeededPort,
): Promise<{ deviceId: number; portId: number; interfaceId: number }> {
  const { rows } = await sql<{ deviceId: number; portId: number; interfaceId: number }>`
    with device as (
      insert into devices (name, role, vendor, model) values (${`router of ${circuitId}`}, 'edge', 'Example', 'R1')
      returning id),
    interface as (
      insert into interfaces (device_id, key, if_index, name, type, admin, oper, speed_bps)
      select id, 'et-0/0/1', 1, 'et-0/0/1', 6, 'up', 'up', 100000000000 from device returning id, device_id),
    port as (
      insert into ports (circuit_id, name, device_id, interface_key, interface_id)
      select ${circuitId}, 'et-0/0/1', device_id, 'et-0/0/1', id from interface returning id, device_id, interface_id),
    module as (
      insert into transceivers (interface_id, serial, type, has_ddm)
      select interface_id, ${`module of ${circuitId}`}, '100GBASE-LR4', true from port),
    assigned as (
      insert into port_assignments (port_id, service_id, team_id, valid)
      select id, ${serviceId}, ${teamId}, tstzrange(${since}, null) from port)
    select device_id as "deviceId", id as "portId", interface_id as "interfaceId" from port`.execute(owner)
  return rows[0]!
}
