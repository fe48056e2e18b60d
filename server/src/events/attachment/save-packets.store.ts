// The SQL of events whose packets are kept.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'

export type OpenEvent = { readonly eventId: string; readonly network: Prefix }

/** The newest open events of all teams. By team, so that each is a range of the index by end. */
export async function listOpenEvents(db: Db, since: Date, limit: number): Promise<OpenEvent[]> {
  const { rows } = await sql<OpenEvent>`
    select e.event_id as "eventId", v.affected_network::text as network
    from teams t cross join lateral (
        select * from team_events m
        where m.team_id = t.id and m.end_at is null and m.start_at > ${since}
        order by m.start_at desc, m.event_id limit ${limit}) e
      join events v on v.id = e.event_id
    where v.affected_network is not null and v.end_at is null
    group by e.event_id, v.affected_network order by min(e.start_at) desc, e.event_id limit ${limit}`.execute(
    db,
  )
  return rows
}
