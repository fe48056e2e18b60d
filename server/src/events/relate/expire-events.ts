// Deletes events after a time, with what refers to them: the rows of teams, their counts, reviews, comments and files. Incidents that lose an event
// are divided anew.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { deleteInBatches } from '../../db/retention.ts'
import { divideAfter } from './relationship.ts'
import { deleteTeamEvents, lockTeams, noTeam } from './team-event.store.ts'

/** Deletes events that ended more than `months` ago, and were first seen as long ago; returns their number. */
export const expireEvents = (db: Db, months: number, signal: AbortSignal, limit?: number): Promise<number> =>
  deleteInBatches(
    signal,
    (count) => db.transaction().execute((trx) => deleteBatch(trx, months, count)),
    limit,
  )

/** In the lock order of relateEvents: events by id, then teams. */
async function deleteBatch(trx: Trx, months: number, limit: number): Promise<number> {
  const past = sql`now() - make_interval(months => ${months})`
  const { rows } = await sql<{ id: string }>`
    select id from events
    where (detected < ${past} or detected is null) and greatest(coalesce(end_at, updated), detected) < ${past}
    order by id limit ${limit} for update skip locked`.execute(trx)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  const { rows: related } = await sql<{ team_id: number; event_id: string }>`
    select distinct team_id, event_id from event_relationships where event_id = any(${ids}::text[])`.execute(
    trx,
  )
  const keys = [...related, ...ids.map((event_id) => ({ team_id: noTeam, event_id }))]
  await lockTeams(trx, [...new Set(keys.map(({ team_id }) => team_id))])
  await divideAfter(trx, await deleteTeamEvents(trx, keys))
  await sql`delete from attachments where subject_kind = 'event' and subject_id = any(${ids}::text[])`.execute(
    trx,
  )
  await sql`delete from events where id = any(${ids}::text[])`.execute(trx)
  return ids.length
}
