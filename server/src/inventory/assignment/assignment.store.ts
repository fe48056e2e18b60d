// The SQL of the assignments of ports to services. Fragments for other stores: everything about a port is read through them.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'

/** The assignments of the team that are valid now: `port_id`, `service_id`, `valid`. */
export const heldPorts = (teamId: number) => sql`(
  select a.port_id, a.service_id, a.valid from port_assignments a
  where a.team_id = ${teamId} and a.valid @> now())`

/**
 * Since when the interface of port `p` is that of the assignment `a`: what is stored by interface belongs to another port before, or
 * to another team. What is stored by port (minutes, days) is the port's own, on whichever interface it was.
 */
export const interfaceSince = sql<Date>`greatest(lower(a.valid), p.linked_at)`

/** The condition that the team may see the device `d`: it is the team's own, or has one of its ports. */
export const isVisibleDevice = (teamId: number) => sql`(d.customer_id = ${teamId}
  or d.id in (select p.device_id from ${heldPorts(teamId)} a join ports p on p.id = a.port_id))`

/** Returns whether the port is assigned to the team now. */
export async function isPortOf(postgres: Postgres, teamId: number, portId: number): Promise<boolean> {
  const query = sql`select from ${heldPorts(teamId)} a where a.port_id = ${portId}::bigint`
  return (await postgres.readInTeam(teamId, query)).length > 0
}
