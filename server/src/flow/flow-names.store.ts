// The SQL of the names that keys of flows refer to, for a team's current objects. Runs as the owner, because exporters
// belong to no team: only the conditions on the team separate the teams.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import type { FlowNames } from './flow-label.ts'
import type { FlowScope } from './flow-query.ts'

/**
 * Reads the names of the inventory that these keys need. Names of AS numbers are read later, for the returned numbers.
 */
export async function readFlowNames(
  db: Db,
  { teamId }: FlowScope,
  keys: readonly FlowKey[],
): Promise<FlowNames> {
  const [prefixes, devices, ports] = await Promise.all([
    keys.includes('prefix') ? listPrefixes(db, teamId) : [],
    keys.includes('device') ? listDevices(db, teamId) : [],
    keys.includes('interface') ? listPorts(db, teamId) : [],
  ])
  return { prefixes, devices, ports, asns: new Map() }
}

type TeamId = FlowScope['teamId']

/** Ports that the team has now. */
const heldPorts = (teamId: number) => sql`(
  select a.port_id from port_assignments a where a.team_id = ${teamId} and a.valid @> now())`

async function listPrefixes(db: Db, teamId: TeamId): Promise<FlowNames['prefixes']> {
  const { rows } = await sql<FlowNames['prefixes'][number]>`
    select id, prefix from prefixes where ${teamId === 'all' ? sql`true` : sql`team_id = ${teamId}`}
    order by prefix, id`.execute(db)
  return rows
}

/** Devices that export flows. */
async function listDevices(db: Db, teamId: TeamId): Promise<FlowNames['devices']> {
  const isVisible =
    teamId === 'all'
      ? sql`true`
      : sql`(d.customer_id = ${teamId} or d.id in (
          select p.device_id from ${heldPorts(teamId)} a join ports p on p.id = a.port_id))`
  const { rows } = await sql<FlowNames['devices'][number]>`
    select d.id, d.name, array_agg(e.id order by e.id) as "exporterIds"
    from devices d join flow_exporters e on e.device_id = d.id where ${isVisible}
    group by d.id order by lower(d.name), d.id`.execute(db)
  return rows
}

async function listPorts(db: Db, teamId: TeamId): Promise<FlowNames['ports']> {
  const held =
    teamId === 'all'
      ? sql`ports`
      : sql`(select p.* from ${heldPorts(teamId)} a join ports p on p.id = a.port_id)`
  const { rows } = await sql<FlowNames['ports'][number]>`
    select p.id, d.name || ' ' || p.name as name from ${held} p join devices d on d.id = p.device_id
    order by lower(d.name), lower(p.name), p.id`.execute(db)
  return rows
}
