// The SQL of events whose flows are saved as a file.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { EndedEvent } from './flows-file.ts'

/**
 * Lists events that ended in the window and whose flows were not saved, for each team that they concern. By team, so that each is a range of
 * the index by end.
 */
export async function listEventsWithoutFlows(
  db: Db,
  from: Date,
  until: Date,
  limit: number,
): Promise<EndedEvent[]> {
  const { rows } = await sql<EndedEvent>`
    select e.team_id as "teamId", e.event_id as "eventId", e.start_at as start, e.end_at as end,
      coalesce(case when e.parsed_data is null then v.parsed_data -> 'networks' else e.parsed_data::jsonb -> 'networks' end,
        to_jsonb(array[e.affected_network::text])) as networks
    from teams t cross join lateral (
        select * from team_events m
        where m.team_id = t.id and m.end_at >= ${from} and m.end_at < ${until} and m.affected_network is not null
          and not exists (select from event_flow_files f where f.event_id = m.event_id and f.team_id = m.team_id)
        order by m.end_at, m.event_id limit ${limit}) e
      join events v on v.id = e.event_id
    order by e.end_at, e.event_id limit ${limit}`.execute(db)
  return rows
}

/** Returns false if another process has saved them. */
export async function markFlowsSaved(trx: Trx, { teamId, eventId }: EndedEvent): Promise<boolean> {
  const { rows } = await sql`
    insert into event_flow_files (team_id, event_id)
    select ${teamId}, id from events where id = ${eventId}
    on conflict do nothing returning event_id`.execute(trx)
  return rows.length > 0
}
