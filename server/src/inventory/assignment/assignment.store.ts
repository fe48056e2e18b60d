// The SQL of the assignments of ports to services. Fragments for other stores: everything about a port is read through them.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'

/** The ports that are assigned to the team now, with `service_id` and `valid` of their assignment, and columns of device, interface and module. */
export const heldPorts = (teamId: number) => sql`(select * from held_ports where team_id = ${teamId})`

/**
 * Time from which rows of the interface belong to the assignment of port `p`. Earlier rows may belong to another port
 * or team. Rows of the port (minutes, days) belong to it on every interface.
 */
export const interfaceSince = sql<Date>`greatest(lower(p.valid), p.interface_since)`

/** The devices of the team and the devices with a port of the team, with the columns of their state. */
export const seenDevices = (teamId: number) => sql`(select * from visible_devices where team_id = ${teamId})`

/** Returns whether the port is assigned to the team now. */
export async function isPortOf(postgres: Postgres, teamId: number, portId: number): Promise<boolean> {
  const query = sql`select from ${heldPorts(teamId)} p where p.id = ${portId}::bigint`
  return (await postgres.readInTeam(teamId, query)).length > 0
}
