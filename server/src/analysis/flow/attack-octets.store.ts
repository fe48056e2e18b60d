// The SQL of the octets of attacks by port.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'

/** `at`: Unix seconds, the start of a bucket of 5 minutes. */
export type PortOctets = { readonly port_id: number; readonly at: number; readonly octets: number }

export async function listTeamsWithPorts(db: Db): Promise<number[]> {
  const { rows } = await sql<{ team_id: number }>`
    select distinct team_id from port_assignments where valid @> now() order by team_id`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Replaces those of the window: an event may since have been found to be false. Ports that are gone are left out. */
export async function saveAttackOctets(
  db: Db,
  teamId: number,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  rows: readonly PortOctets[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      delete from port_attack_octets
      where team_id = ${teamId} and bucket >= ${new Date(startMs)} and bucket < ${new Date(endMs)}`.execute(
      trx,
    )
    await sql`
      insert into port_attack_octets (team_id, port_id, bucket, octets)
      select ${teamId}, n.port_id, to_timestamp(n.at), sum(n.octets)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (port_id integer, at bigint, octets bigint)
        join ports p on p.id = n.port_id
      group by n.port_id, n.at`.execute(trx)
  })
}
