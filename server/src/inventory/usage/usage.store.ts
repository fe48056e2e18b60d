// The SQL of the usage of a port. It is read through the assignment: nothing of before or after it.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { heldPorts } from '../port/assignment.store.ts'
import { readCounted, type Counted, type CountedColumn } from './counted.store.ts'

/** When the port was assigned to the team. Undefined if it is not the team's now. */
export async function findAssignedSince(
  postgres: Postgres,
  teamId: number,
  portId: number,
): Promise<Date | undefined> {
  const query = sql<{ since: Date }>`
    select lower(a.valid) as since from ${heldPorts(teamId)} a where a.port_id = ${portId}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]?.since
}

/** The buckets of a port that is the team's now, from its assignment on. */
export function readUsage(
  postgres: Postgres,
  teamId: number,
  portId: number,
  columns: readonly CountedColumn[],
  { start, end, seconds }: { readonly start: Date; readonly end: Date; readonly seconds: 60 | 300 },
): Promise<Counted> {
  const held = sql`
    select a.port_id, greatest(lower(a.valid), ${start}::timestamptz) as since, ${end}::timestamptz as until
    from ${heldPorts(teamId)} a where a.port_id = ${portId}::bigint`
  return readCounted(postgres, teamId, held, columns, seconds)
}
