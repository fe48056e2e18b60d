// The SQL of the usage of a port. It is read through the assignments of the team: each customer gets only the usage of
// their own time, for as long as samples are stored.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import type { Period } from './billing-month.ts'
import { readCounted, type Counted, type CountedColumn } from './counted.store.ts'

/** Bounded by whole buckets at the end: the rest of the last one belongs to the next customer. */
const heldTimes = (teamId: number, portId: number) => sql`(
  select a.port_id, lower(a.valid) as since, date_bin('5 minutes', upper(a.valid), '2000-01-01T00:00:00Z') as until
  from port_assignments a where a.team_id = ${teamId} and a.port_id = ${portId}::bigint)`

/**
 * Returns the times in which the port belonged to the team, in order; Infinity: it still does. Empty if it never did.
 */
export async function listHeldTimes(postgres: Postgres, teamId: number, portId: number): Promise<Period[]> {
  const query = sql<{ since: Date; until: Date | null }>`
    select since, until from ${heldTimes(teamId, portId)} h order by since`
  const rows = await postgres.readInTeam(teamId, query)
  return rows.map(({ since, until }) => ({
    startMs: since.getTime(),
    endMs: until?.getTime() ?? Infinity,
  }))
}

/** The buckets of a port in the times in which it belonged to the team. */
export function readUsage(
  postgres: Postgres,
  teamId: number,
  portId: number,
  columns: readonly CountedColumn[],
  { start, end, seconds }: { readonly start: Date; readonly end: Date; readonly seconds: 60 | 300 },
): Promise<Counted> {
  const held = sql`
    select h.port_id, greatest(h.since, ${start}::timestamptz) as since, least(h.until, ${end}::timestamptz) as until
    from ${heldTimes(teamId, portId)} h where h.since < ${end}::timestamptz and (h.until is null or h.until > ${start}::timestamptz)`
  return readCounted(postgres, teamId, held, columns, seconds)
}
