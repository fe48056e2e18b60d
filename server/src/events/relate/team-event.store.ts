// The SQL that writes the teams' lists of events, with their counts and their rollup by time. list-events.store.ts reads them.
import { sql, type Selectable } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import type { TeamEventsTable } from '../../db/schema.ts'
import { unnestRows } from '../../db/unnest.ts'
import type { CountedEvent } from './event-rollup.ts'
import { saveRollup } from './event-rollup.store.ts'
import type { Facet } from './facet.ts'
import { saveFacets } from './facet.store.ts'

/** `parsed_data` is null if all networks of the event belong to the team: it then gets the event's own parsed data. */
export type TeamEvent = Readonly<Omit<Selectable<TeamEventsTable>, 'span' | 'facet'>> & {
  readonly facet: Facet
}

/** A row of team_events; of its facet, messages contain the status. */
export type ListedEvent = Pick<
  TeamEvent,
  | 'team_id'
  | 'event_id'
  | 'start_at'
  | 'end_at'
  | 'affected_bps'
  | 'affected_pps'
  | 'flags'
  | 'affected_network'
  | 'classification_key'
> & { readonly facet: { readonly status: number } }

/** The `team_id` of events that concern no team. */
export const noTeam = 0

/** Filters the events: only events in the list without a team. */
export async function listUnmatched(trx: Trx, eventIds: readonly string[]): Promise<string[]> {
  if (eventIds.length === 0) return []
  const { rows } = await sql<{ event_id: string }>`
    select event_id from team_events where team_id = ${noTeam} and event_id = any(${eventIds}::text[])`.execute(
    trx,
  )
  return rows.map(({ event_id }) => event_id)
}

/** The first half of the advisory locks' keys; the second is the slot of the team. */
const LOCK_CLASS = 7_001
/** Limits the number of locks of a transaction that concerns thousands of teams. */
const LOCK_SLOTS = 64

/** Locks the lists and counts of these teams until the end of the transaction. */
export async function lockTeams(trx: Trx, teamIds: readonly number[]): Promise<void> {
  const slots = [...new Set(teamIds.map((teamId) => teamId % LOCK_SLOTS))].toSorted((a, b) => a - b)
  // One by one in the order of the array: the function is called for each row in turn.
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, slot) from unnest(${slots}::integer[]) slot`.execute(
    trx,
  )
}

/** A written row, with its previous values. */
export type WrittenTeamEvent = {
  readonly team_id: number
  readonly event_id: string
  readonly before: (TeamEventBefore & PlaceBefore) | null
  /** Time of the transaction. */
  readonly now: Date
}

export type TeamEventBefore = Pick<TeamEvent, 'end_at' | 'affected_bps' | 'affected_pps' | 'flags'>
type PlaceBefore = Pick<TeamEvent, 'start_at' | 'affected_network'>

const counted = sql.raw(
  'start_at, end_at, affected_bps, affected_pps, classification_key, facet'
    .split(', ')
    .map((name) => `b.${name}`)
    .join(', '),
)

const types = {
  team_id: 'integer',
  event_id: 'text',
  start_at: 'timestamptz',
  end_at: 'timestamptz',
  affected_bps: 'bigint',
  affected_pps: 'bigint',
  flags: 'integer',
  facet: 'integer',
  affected_network: 'cidr',
  classification_key: 'text',
  description: 'text',
  record: 'json',
  relationships: 'json',
  parsed_data: 'json',
  incident: 'text',
} satisfies Record<keyof TeamEvent, string>
const columns = sql.join(Object.keys(types).map((name) => sql.ref(name)))
/** A stored event stays in its incident: join-incidents.ts moves it. */
const valueOf = (name: string) =>
  name === 'incident' ? sql`coalesce(t.incident, excluded.incident)` : sql.ref(`excluded.${name}`)
const assignments = sql.join(Object.keys(types).map((name) => sql`${sql.ref(name)} = ${valueOf(name)}`))

/** Writes the rows that differ from the stored ones, and returns them. Call `lockTeams` first. */
export async function saveTeamEvents(trx: Trx, rows: readonly TeamEvent[]): Promise<WrittenTeamEvent[]> {
  if (rows.length === 0) return []
  const facets = await saveFacets(
    trx,
    rows.map(({ team_id, facet }) => ({ team_id, ...facet })),
  )
  const stored = rows.map((row, at) => ({ ...row, facet: facets[at]! }))
  const { rows: written } = await sql<WrittenRow>`
    with written as (
    insert into team_events as t (${columns}) select ${columns} from ${unnestRows(stored, types)}
    on conflict (team_id, event_id) do update set ${assignments}
    where (t.record, t.relationships, t.parsed_data, t.facet)
      is distinct from (excluded.record, excluded.relationships, excluded.parsed_data, excluded.facet)
    returning team_id, event_id)
    select w.team_id, w.event_id, now() as now, b.team_id is not null as existed, ${counted}, b.flags,
      b.affected_network::text as affected_network
    from written w left join team_events b on b.team_id = w.team_id and b.event_id = w.event_id`.execute(trx)
  const byKey = new Map(stored.map((row) => [`${row.team_id} ${row.event_id}`, row]))
  const changed = written.map(({ event_id, now, existed, ...before }) => ({
    team_id: before.team_id,
    event_id,
    now,
    before: existed ? before : null,
    after: byKey.get(`${before.team_id} ${event_id}`)!,
  }))
  await saveRollup(trx, changed)
  return changed
}

/** A row of the team's list with its content. */
export type ShownEvent = ListedEvent & Pick<TeamEvent, 'record' | 'facet'>

/** Filters the events: only events in the team's list. */
export async function listShown(
  trx: Trx,
  teamId: number,
  eventIds: readonly string[],
): Promise<ShownEvent[]> {
  const { rows } = await sql<ShownEvent>`
    select t.team_id, t.event_id, t.start_at, t.end_at, t.affected_bps, t.affected_pps, t.flags,
      t.affected_network::text as affected_network, t.classification_key, t.record,
      json_build_object('flags', f.flags, 'status', f.status, 'classification_key', f.classification_key,
        'source_key', f.source_key, 'description', f.description) as facet
    from team_events t join team_event_facets f on f.team_id = t.team_id and f.id = t.facet
    where t.team_id = ${teamId} and t.event_id = any(${eventIds}::text[]) order by t.event_id`.execute(trx)
  return rows
}

/** Writes other statuses and flags of rows of one team's list. Call `lockTeams` first. */
export async function saveShown(trx: Trx, teamId: number, rows: readonly ShownEvent[]): Promise<void> {
  if (rows.length === 0) return
  const facets = await saveFacets(
    trx,
    rows.map(({ facet }) => ({ team_id: teamId, ...facet })),
  )
  const saved = rows.map(({ event_id, flags, record }, at) => ({
    event_id,
    flags,
    record,
    facet: facets[at]!,
  }))
  const { rows: before } = await sql<CountedEvent & { readonly event_id: string }>`
    update team_events t set record = n.record, flags = n.flags, facet = n.facet
    from json_to_recordset(${JSON.stringify(saved)}::json) as n (event_id text, flags integer, record text, facet integer)
      join team_events b on b.team_id = ${teamId} and b.event_id = n.event_id
    where t.team_id = ${teamId} and t.event_id = n.event_id
    returning b.team_id, b.event_id, ${counted}`.execute(trx)
  const facetOf = new Map(saved.map(({ event_id, facet }) => [event_id, facet]))
  await saveRollup(
    trx,
    before.map((row) => ({ before: row, after: { ...row, facet: facetOf.get(row.event_id)! } })),
  )
}

type WrittenRow = Omit<WrittenTeamEvent, 'before'> & { readonly existed: boolean } & TeamEventBefore &
  PlaceBefore &
  CountedEvent

/** An `event.ended` message that the outbox still contains; `end` is its ISO 8601 text. */
export type EndedMessage = {
  readonly team_id: number
  readonly event_id: string
  readonly end: string | null
}

export async function listEndedMessages(trx: Trx, eventIds: readonly string[]): Promise<EndedMessage[]> {
  if (eventIds.length === 0) return []
  const { rows } = await sql<EndedMessage>`
    select team_id, data ->> 'id' as event_id, data ->> 'end' as end from outbox
    where type = 'event.ended' and (data ->> 'id') collate "C" = any(${eventIds}::text[])`.execute(trx)
  return rows
}

/** Deletes the existing rows, and returns their incidents. Call `lockTeams` first. */
export async function deleteTeamEvents(
  trx: Trx,
  keys: readonly { readonly team_id: number; readonly event_id: string }[],
): Promise<{ readonly team_id: number; readonly incident: string }[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<CountedEvent & { readonly incident: string }>`
    delete from team_events b using json_to_recordset(${JSON.stringify(keys)}::json) as n(team_id integer, event_id text)
    where b.team_id = n.team_id and b.event_id = n.event_id
    returning b.team_id, coalesce(b.incident, b.event_id) as incident, ${counted}`.execute(trx)
  await saveRollup(
    trx,
    rows.map((before) => ({ before, after: null })),
  )
  return rows
}
