// The SQL that writes the teams' lists of events. Reading them is related-event.store.ts; their counts are kept by a
// trigger of the database.
import { sql, type Selectable } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import type { TeamEventsTable } from '../db/schema.ts'

/** `parsed_data` is null if the team holds all networks of the event, whose own parsed data it sees. */
export type TeamEvent = Readonly<Omit<Selectable<TeamEventsTable>, 'span'>>

/** The first half of the advisory locks' keys; the second is the slot of the team. */
const LOCK_CLASS = 7_001
/** So that a transaction which concerns thousands of teams does not need thousands of locks. */
const LOCK_SLOTS = 64

/** Until the transaction ends, nobody else writes the lists of these teams, or their counts. */
export async function lockTeams(trx: Trx, teamIds: readonly number[]): Promise<void> {
  const slots = [...new Set(teamIds.map((teamId) => teamId % LOCK_SLOTS))].toSorted((a, b) => a - b)
  // One by one in the order of the array: the function is called for each row as it comes.
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, slot) from unnest(${slots}::integer[]) slot`.execute(
    trx,
  )
}

/** Rows that are as they should be are not written. */
export async function saveTeamEvents(trx: Trx, rows: readonly TeamEvent[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const names = Object.keys(first)
  const columns = sql.join(names.map((name) => sql.ref(name)))
  const assignments = sql.join(names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))
  await sql`
    insert into team_events as t (${columns})
    select ${columns} from json_populate_recordset(null::team_events, ${JSON.stringify(rows)}::json)
    on conflict (team_id, event_id) do update set ${assignments}
    where (t.record, t.relationships, t.parsed_data)
      is distinct from (excluded.record, excluded.relationships, excluded.parsed_data)`.execute(trx)
}

export async function deleteTeamEvents(
  trx: Trx,
  keys: readonly { readonly team_id: number; readonly event_id: string }[],
): Promise<void> {
  if (keys.length === 0) return
  await sql`
    delete from team_events t using json_to_recordset(${JSON.stringify(keys)}::json) as n(team_id integer, event_id text)
    where t.team_id = n.team_id and t.event_id = n.event_id`.execute(trx)
}
