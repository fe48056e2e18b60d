// The SQL of the loads of several ports: each through the assignments of its team.
import { sql } from 'kysely'
import type { ReadStatement } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'
import { readCountedByKey, type Counted } from './counted.store.ts'

/** A port of a team, and the time to read. Keys are unique. */
export type HeldPort = {
  readonly key: number
  readonly teamId: number
  readonly portId: number
  readonly start: Date
  readonly end: Date
}

const portRows = (ports: readonly HeldPort[]) =>
  unnestRows(
    ports.map(({ key, teamId, portId, start, end }) => ({ key, teamId, portId, start, end })),
    { key: 'bigint', teamId: 'integer', portId: 'bigint', start: 'timestamptz', end: 'timestamptz' },
  )

/** The speeds of the ports that the teams have now, as lists of ports show them. */
export async function listSpeeds(
  read: ReadStatement,
  ports: readonly HeldPort[],
): Promise<ReadonlyMap<number, number | null>> {
  const rows = await read(sql<{ key: number; speed: number | null }>`
    select n.key, coalesce(p.speed_bps, i.speed_bps) as speed
    from ${portRows(ports)} join port_assignments a on a.team_id = n."teamId" and a.port_id = n."portId" and a.valid @> now()
      join ports p on p.id = a.port_id left join interfaces i on i.id = p.interface_id`)
  return new Map(rows.map(({ key, speed }) => [key, speed]))
}

/** The buckets of 5 minutes in the times in which the ports belonged to the teams. */
export const readHeldBuckets = (
  read: ReadStatement,
  ports: readonly HeldPort[],
): Promise<ReadonlyMap<number, Counted>> =>
  readCountedByKey(
    read,
    sql`
      select n.key, a.port_id, greatest(lower(a.valid), n.start) as since,
        least(date_bin('5 minutes', upper(a.valid), '2000-01-01T00:00:00Z'), n."end") as until
      from ${portRows(ports)} join port_assignments a on a.team_id = n."teamId" and a.port_id = n."portId"
        and a.valid && tstzrange(n.start, n."end")`,
    ['octets_in', 'octets_out'],
    300,
  )
