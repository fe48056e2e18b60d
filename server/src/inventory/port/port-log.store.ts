// The SQL of the log of a port: the changes of its interface since both belong to the team.
import type { PortChangeKind } from '@pharos/contract/inventory/port'
import { portLogMax } from '@pharos/contract/inventory/port'
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { heldPorts, interfaceSince } from '../assignment/assignment.store.ts'

export type PortLogRow = {
  readonly at: Date
  readonly kind: PortChangeKind
  readonly before: string
  readonly after: string
}

/** The newest first. */
export function listPortLog(postgres: Postgres, teamId: number, portId: number): Promise<PortLogRow[]> {
  const query = sql<PortLogRow>`
    select l.at, l.kind, l.before, l.after
    from ${heldPorts(teamId)} p join interface_log l on l.interface_id = p.interface_id
    where p.id = ${portId}::bigint and l.at >= ${interfaceSince}
    order by l.at desc, l.id desc limit ${sql.lit(portLogMax)}`
  return postgres.readInTeam(teamId, query)
}
