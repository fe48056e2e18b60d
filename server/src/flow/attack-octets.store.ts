// The SQL of the octets of attacks by port.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

/** `at`: Unix seconds, the start of a bucket of 5 minutes. */
export type PortBucket = { readonly port_id: number; readonly at: number }
export type PortOctets = PortBucket & { readonly octets: number }
type Window = { readonly startMs: number; readonly endMs: number }

/** Teams to which a port was assigned at any time of the window. */
export async function listTeamsWithPorts(db: Db, { startMs, endMs }: Window): Promise<number[]> {
  const { rows } = await sql<{ team_id: number }>`
    select distinct team_id from port_assignments
    where valid && tstzrange(${new Date(startMs)}, ${new Date(endMs)}) order by team_id`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** The starts of buckets with octets of attacks, Unix seconds. */
export async function listSavedBuckets(
  db: Db,
  teamId: number,
  { startMs, endMs }: Window,
): Promise<number[]> {
  const { rows } = await sql<{ at: number }>`
    select distinct extract(epoch from bucket)::bigint as at from port_attack_octets
    where team_id = ${teamId} and octets > 0 and bucket >= ${new Date(startMs)} and bucket < ${new Date(endMs)}`.execute(
    db,
  )
  return rows.map(({ at }) => at)
}

/** Replaces the `covered` buckets: an event may have been marked as false since. Skips deleted ports. */
export async function saveAttackOctets(
  db: Db,
  teamId: number,
  { covered, rows }: { readonly covered: readonly PortBucket[]; readonly rows: readonly PortOctets[] },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      delete from port_attack_octets o
      using jsonb_to_recordset(${JSON.stringify(covered)}::jsonb) as n (port_id integer, at bigint)
      where o.team_id = ${teamId} and o.port_id = n.port_id and o.bucket = to_timestamp(n.at)`.execute(trx)
    await sql`
      insert into port_attack_octets (team_id, port_id, bucket, octets)
      select ${teamId}, n.port_id, to_timestamp(n.at), sum(n.octets)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (port_id integer, at bigint, octets bigint)
        join ports p on p.id = n.port_id
      group by n.port_id, n.at
      on conflict (team_id, port_id, bucket) do update set octets = excluded.octets where excluded.octets > 0`.execute(
      trx,
    )
  })
}
