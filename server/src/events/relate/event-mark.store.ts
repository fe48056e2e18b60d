// The SQL of marks: statuses and flags that Pharos sets for a team's view of an event.
import { sql } from 'kysely'
import type { EventMark, EventMarkSource } from '@pharos/contract/events/event'
import type { Db, Trx } from '../../db/postgres.ts'

/** When each mark was set, in ISO 8601. */
export type Marks = Readonly<Partial<Record<EventMark, string>>>

export type TeamMarks = { readonly team_id: number; readonly event_id: string; readonly marks: Marks }

/** The marks of all teams. */
export async function listMarks(trx: Trx, eventIds: readonly string[]): Promise<TeamMarks[]> {
  const { rows } = await sql<TeamMarks>`
    select m.team_id, m.event_id, m.marks from event_marks m where m.event_id = any(${eventIds}::text[])`.execute(
    trx,
  )
  return rows
}

export type EventOfTeam = { readonly teamId: number; readonly eventId: string }

/** Returns the events, with their teams, that Pharos shows as black-holed. */
export async function listBlackholedMarks(db: Db): Promise<EventOfTeam[]> {
  const { rows } = await sql<EventOfTeam>`
    select m.team_id as "teamId", m.event_id as "eventId" from event_marks m where m.marks ? 'BLACKHOLED'`.execute(
    db,
  )
  return rows
}

/** The part of an attack that rules drop; null: it is not known. */
export type MarkEffect = {
  readonly share_bytes: number | null
  readonly share_packets: number | null
  readonly source: EventMarkSource
}

export async function findMarks(
  db: Db | Trx,
  teamId: number,
  eventId: string,
): Promise<{ readonly marks: Marks; readonly effect: MarkEffect | null }> {
  const { rows } = await sql<{ marks: Marks; effect: MarkEffect | null }>`
    select m.marks, m.effect from event_marks m where m.team_id = ${teamId} and m.event_id = ${eventId}`.execute(
    db,
  )
  return rows[0] ?? { marks: {}, effect: null }
}

/** Saves the effects of marked events; this does not change the event. */
export async function saveEffects(
  db: Db,
  teamId: number,
  effects: readonly { readonly eventId: string; readonly effect: MarkEffect }[],
): Promise<void> {
  if (effects.length === 0) return
  await sql`
    update event_marks m set effect = n.effect
    from jsonb_to_recordset(${JSON.stringify(effects)}::jsonb) as n ("eventId" text, effect jsonb)
    where m.team_id = ${teamId} and m.event_id = n."eventId" and m.effect is distinct from n.effect`.execute(
    db,
  )
}

export async function saveMarks(
  trx: Trx,
  teamId: number,
  marked: readonly { readonly eventId: string; readonly marks: Marks }[],
): Promise<void> {
  if (marked.length === 0) return
  await sql`
    insert into event_marks (team_id, event_id, marks)
    select ${teamId}, n."eventId", n.marks
    from jsonb_to_recordset(${JSON.stringify(marked)}::jsonb) as n ("eventId" text, marks jsonb)
    on conflict (event_id, team_id) do update set marks = excluded.marks`.execute(trx)
}
