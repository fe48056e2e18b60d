// Puts events into the incidents of their teams, in the transaction that writes them and under the locks of the teams.
// A new event joins an incident in its own row; only merges and divisions of incidents write other rows.
import type { Trx } from '../../db/postgres.ts'
import { connectEvents, ConnectedEvents, directionFlagsOf, divide, oldest } from './incident.ts'
import {
  listCutOff,
  listFirst,
  listIncidentsOf,
  listIncidentMembers,
  listNeighbors,
  membersMax,
  mergeIncidents,
  saveMoved,
  type PlacedEvent,
} from './incident.store.ts'

/** The incidents that new events join, by `keyOf`; and the incidents merged into them. */
export type Joined = {
  readonly incidentOf: (event: Key) => string | null
  readonly merged: readonly {
    readonly team_id: number
    readonly incidents: readonly string[]
    readonly into: string
  }[]
}

type Key = { readonly team_id: number; readonly event_id: string }
const keyOf = ({ team_id, event_id }: Key): string => `${team_id} ${event_id}`

/** Finds the incidents of events that are not stored yet. */
export async function findIncidents(trx: Trx, events: readonly PlacedEvent[]): Promise<Joined> {
  const neighbors = Map.groupBy(await listNeighbors(trx, events), ({ event }) => event.team_id)
  const found = new Map<string, string>()
  const merged: { team_id: number; incidents: string[]; into: string }[] = []
  for (const [team_id, ofTeam] of Map.groupBy(events, (event) => event.team_id)) {
    const connections = new ConnectedEvents()
    const stored = new Set<string>()
    for (const { event, incident } of neighbors.get(team_id) ?? []) {
      stored.add(incident)
      connections.connect(incident, event.event_id)
    }
    connectEvents(ofTeam, connections)
    const byId = new Map(ofTeam.map((event) => [event.event_id, event]))
    for (const ids of connections.sets()) {
      const known = ids.filter((id) => stored.has(id))
      const into =
        known.length === 1
          ? known[0]!
          : oldest(known.length > 1 ? await listFirst(trx, team_id, known) : ids.map((id) => byId.get(id)!))!
              .event_id
      for (const event_id of ids) if (event_id !== into) found.set(keyOf({ team_id, event_id }), into)
      const taken = known.filter((id) => id !== into)
      if (taken.length > 0) merged.push({ team_id, incidents: taken, into })
    }
  }
  return { incidentOf: (event) => found.get(keyOf(event)) ?? null, merged }
}

/** Call it after the new events are stored. */
export async function mergeJoined(trx: Trx, { merged }: Joined): Promise<void> {
  for (const { team_id, incidents, into } of merged) await mergeIncidents(trx, team_id, incidents, into)
}

/** A stored event, and where it was before. */
export type ChangedEvent = PlacedEvent & {
  readonly before: Pick<PlacedEvent, 'start_at' | 'end_at' | 'flags'> & {
    readonly affected_network: string | null
  }
  readonly affected_network: string | null
}

/**
 * Divides and merges incidents of stored events whose place has changed. The end of an event changes its incident only
 * if a later event was added in the meantime. The former networks of an event with several networks are unknown.
 */
export async function moveEvents(trx: Trx, events: readonly ChangedEvent[]): Promise<void> {
  const changed = events.filter(isElsewhere)
  const shortened = changed.filter(isShortened)
  const cut = new Set((await listCutOff(trx, shortened)).map(keyOf))
  const moved = changed.filter((event) => !isShortened(event) || cut.has(keyOf(event)))
  if (moved.length === 0) return
  const neighbors = Map.groupBy(await listNeighbors(trx, moved), ({ event }) => event.team_id)
  for (const [teamId, ofTeam] of Map.groupBy(moved, ({ team_id }) => team_id)) {
    const around = (neighbors.get(teamId) ?? []).map(({ incident }) => incident)
    const own = await listIncidentsOf(
      trx,
      teamId,
      ofTeam.map(({ event_id }) => event_id),
    )
    await divideIncidents(trx, teamId, [...around, ...own])
  }
}

const sameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime()

const isElsewhere = ({ before, ...event }: ChangedEvent): boolean =>
  event.networks.length > 1 ||
  before.affected_network !== event.affected_network ||
  directionFlagsOf(before.flags) !== directionFlagsOf(event.flags) ||
  !sameTime(before.start_at, event.start_at) ||
  !sameTime(before.end_at, event.end_at)

const isShortened = ({ before, ...event }: ChangedEvent): boolean =>
  event.networks.length === 1 &&
  before.affected_network === event.affected_network &&
  directionFlagsOf(before.flags) === directionFlagsOf(event.flags) &&
  sameTime(before.start_at, event.start_at) &&
  event.end_at !== null &&
  (before.end_at === null || event.end_at < before.end_at)

/** Divides the events of a team's incidents anew. */
export async function divideIncidents(trx: Trx, teamId: number, incidents: readonly string[]): Promise<void> {
  const ids = [...new Set(incidents)]
  const members = await listIncidentMembers(trx, teamId, ids)
  if (members.length <= membersMax) return saveMoved(trx, teamId, divide(members))
  const into = oldest(await listFirst(trx, teamId, ids))
  const taken = ids.filter((id) => id !== into?.event_id)
  if (into && taken.length > 0) await mergeIncidents(trx, teamId, taken, into.event_id)
}
