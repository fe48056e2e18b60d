// Why an event concerns a team: the stored matches, and the plan that updates them to the current ones. Ids are kept
// across updates, because clients store them.
import type { Relationship } from '@pharos/contract/events/event'
import type { Ownership } from '../../inventory/holding/ownership.ts'
import type { Prefix } from '../../net/prefix.ts'
import { analyzeGrown } from '../../db/analyze-grown.ts'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { eventMessages } from './event-message.ts'
import { networksOf } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import { facetOf } from './facet.ts'
import type { PlacedEvent } from './incident.store.ts'
import {
  divideIncidents,
  findIncidents,
  mergeJoined,
  moveEvents,
  type ChangedEvent,
} from './join-incidents.ts'
import { matchNetworks } from './match.ts'
import type { EventMatch, Match, StoredMatch } from './match.ts'
import { flagBits, renderEvent, renderRelationships } from './event-json.ts'
import {
  deleteRelationships,
  insertRelationships,
  listRelationships,
  saveRelationships,
} from './relationship.store.ts'
import { readViews, shownFlags, shownStatus, type ViewOf } from './show-event.ts'
import {
  deleteTeamEvents,
  listEndedMessages,
  listUnmatched,
  lockTeams,
  noTeam,
  saveTeamEvents,
  type WrittenTeamEvent,
} from './team-event.store.ts'
import type { TeamEvent } from './team-event.store.ts'
import { teamPart } from './team-part.ts'

/** The plan that turns the stored matches into the wanted ones. */
export type RelationshipPlan = {
  readonly insert: readonly EventMatch[]
  readonly save: readonly StoredMatch[]
  readonly remove: readonly StoredMatch[]
  readonly keep: readonly StoredMatch[]
}

function planRelationships(stored: readonly StoredMatch[], wanted: readonly EventMatch[]): RelationshipPlan {
  const byKey = new Map(stored.map((match) => [keyOf(match), match]))
  const insert: EventMatch[] = []
  const save: StoredMatch[] = []
  const keep: StoredMatch[] = []
  for (const match of wanted) {
    const known = byKey.get(keyOf(match))
    byKey.delete(keyOf(match))
    if (!known) insert.push(match)
    else if (isSame(known, match)) keep.push(known)
    else save.push({ ...match, id: known.id })
  }
  return { insert, save, keep, remove: [...byKey.values()] }
}

function keyOf(match: EventMatch): string {
  return `${match.eventId} ${match.teamId} ${match.resource} ${match.resourceId} ${match.type}`
}

function isSame(a: EventMatch, b: EventMatch): boolean {
  return a.name === b.name && a.link === b.link && a.value === b.value
}

/**
 * Updates the relationships and the teams' lists for events that the transaction has locked, with the ownership that it
 * has locked. The lock order is the same everywhere (ownership, events by id, teams), so that any number of these can
 * run concurrently. `isObserved`: the transaction also writes the events, from deliveries.
 */
export async function relateEvents(
  trx: Trx,
  events: readonly Event[],
  ownership: Ownership,
  { isObserved }: { readonly isObserved: boolean },
): Promise<void> {
  if (events.length === 0) return
  const matches = new Map(events.map((event) => [event.id, matchNetworks(networksOf(event), ownership)]))
  const stored = await listRelationships(trx, [...matches.keys()])
  const wanted = [...matches].flatMap(([eventId, list]) => list.map((match) => ({ eventId, ...match })))
  const plan = planRelationships(stored, wanted)
  const related = new Set(stored.map(({ eventId }) => eventId))
  const unmatched = await listUnmatched(
    trx,
    events.flatMap(({ id }) => (related.has(id) || matches.get(id)!.length === 0 ? [] : [id])),
  )
  await deleteRelationships(trx, plan.remove)
  await saveRelationships(trx, plan.save)
  const inserted = await insertRelationships(trx, plan.insert)
  const current = new Map(
    [...plan.keep, ...plan.save, ...inserted].map((relationship) => [keyOf(relationship), relationship]),
  )
  const viewOf = await readViews(trx, [...matches.keys()])
  const teamEvents = events.flatMap((event) => teamEventsOf(event, matches.get(event.id)!, current, viewOf))
  const matched = unmatched.map((event_id) => ({ team_id: noTeam, event_id }))
  const gone = [...noLongerRelated(stored, wanted), ...matched]
  // As late as possible: the rest depends only on the events, and transactions about the same teams run one after the
  // other from here.
  await lockTeams(trx, [...new Set([...teamEvents, ...gone].map(({ team_id }) => team_id))])
  const joined = await findIncidents(trx, teamEvents.filter(isNewIn(stored)))
  for (const event of teamEvents) event.incident = joined.incidentOf(event)
  const all = await saveTeamEvents(trx, teamEvents)
  const written = all.filter(({ team_id }) => team_id !== noTeam)
  await mergeJoined(trx, joined)
  await moveEvents(trx, changedEvents(teamEvents, written))
  const ended = await listEndedMessages(trx, ongoingBefore(written))
  await writeMessages(trx, eventMessages(teamEvents, written, ended, isObserved))
  await divideAfter(trx, await deleteTeamEvents(trx, gone))
  await analyzeGrown(trx, ['team_events', 'team_event_facets', 'team_event_counts', 'team_event_hours'])
}

type PlacedTeamEvent = Omit<TeamEvent, 'incident'> & PlacedEvent & { incident: string | null }

/** Events are stored for a team when they become related to it. Events without a team are in no incident. */
function isNewIn(stored: readonly StoredMatch[]): (event: PlacedTeamEvent) => boolean {
  const known = new Set(stored.map(({ teamId, eventId }) => `${teamId} ${eventId}`))
  return ({ team_id, event_id }) => team_id !== noTeam && !known.has(`${team_id} ${event_id}`)
}

/** The written row does not contain further networks, so events with several networks may have changed. */
function changedEvents(
  events: readonly PlacedTeamEvent[],
  written: readonly WrittenTeamEvent[],
): (PlacedTeamEvent & ChangedEvent)[] {
  const byKey = new Map(written.map(({ before, ...key }) => [keyOfRow(key), before]))
  return events.flatMap((event) => {
    const before = byKey.get(keyOfRow(event)) ?? (event.networks.length > 1 ? event : undefined)
    return before && event.team_id !== noTeam ? [{ ...event, before }] : []
  })
}

const keyOfRow = ({ team_id, event_id }: { readonly team_id: number; readonly event_id: string }): string =>
  `${team_id} ${event_id}`

/** Divides the incidents of deleted rows anew. */
export async function divideAfter(
  trx: Trx,
  deleted: readonly { readonly team_id: number; readonly incident: string }[],
): Promise<void> {
  for (const [teamId, ofTeam] of Map.groupBy(deleted, ({ team_id }) => team_id)) {
    if (teamId !== noTeam)
      await divideIncidents(
        trx,
        teamId,
        ofTeam.map(({ incident }) => incident),
      )
  }
}

/**
 * Returns events that had not ended for a team: only their end can have been reported before (see event-message.ts).
 */
function ongoingBefore(written: readonly WrittenTeamEvent[]): string[] {
  return [...new Set(written.flatMap(({ event_id, before }) => (before?.end_at === null ? [event_id] : [])))]
}

/**
 * A row per team that the event concerns: the team's part, with its relationships in the order of match.ts. Of an event
 * that concerns no team, the whole event in a row of no team.
 */
function teamEventsOf(
  event: Event,
  matches: readonly Match[],
  current: ReadonlyMap<string, StoredMatch>,
  viewOf: ViewOf,
): PlacedTeamEvent[] {
  const byTeam = Map.groupBy(matches, ({ teamId }) => teamId)
  if (byTeam.size === 0) byTeam.set(noTeam, [])
  return [...byTeam].map(([teamId, ofTeam]) => {
    const target = ofTeam.find(({ location }) => location !== null)?.location ?? null
    const own = teamId === noTeam ? event : teamPart(event, ofTeam.flatMap(prefixOf))
    const view = viewOf(event.id, teamId)
    const part = { ...own, status: shownStatus(own.status, view), flags: shownFlags(own.flags, view) }
    return {
      team_id: teamId,
      event_id: event.id,
      start_at: part.start,
      end_at: part.end,
      affected_bps: part.affectedBps,
      affected_pps: part.affectedPps,
      flags: flagBits(part.flags),
      facet: facetOf(part),
      affected_network: part.affectedNetwork,
      classification_key: part.classificationKey,
      description: part.description.toLowerCase(),
      record: renderEvent(part, target),
      relationships: renderRelationships(
        ofTeam.map((match) => relationshipOf(current.get(keyOf({ ...match, eventId: event.id }))!)),
      ),
      parsed_data: own === event ? null : JSON.stringify(part.parsedData),
      incident: null,
      networks: networksOf(own),
    }
  })
}

function prefixOf({ resource, value }: Match): Prefix[] {
  return resource === 'asn' ? [] : [value as Prefix]
}

function relationshipOf(match: StoredMatch): Relationship {
  return {
    id: match.id,
    match_resouce_name: match.name,
    match_resource_link: match.link,
    match_resource: match.resource,
    match_type: match.type,
    match_value: match.value,
  }
}

/** Returns the pairs of events and teams that are no longer related. */
function noLongerRelated(
  stored: readonly StoredMatch[],
  wanted: readonly EventMatch[],
): { team_id: number; event_id: string }[] {
  const pairOf = ({ teamId, eventId }: EventMatch) => `${teamId} ${eventId}`
  const still = new Set(wanted.map(pairOf))
  const gone = new Map(
    stored.filter((match) => !still.has(pairOf(match))).map((match) => [pairOf(match), match]),
  )
  return [...gone.values()].map(({ teamId, eventId }) => ({ team_id: teamId, event_id: eventId }))
}
