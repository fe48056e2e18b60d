// Decides which changes of a team's events are reported, and builds the messages. Late or replayed deliveries and
// prefixes added later produce past events, which are not reported. Pure.
import type { MessageType } from '@pharos/contract/messages/webhook-message'
import type { NewMessage } from '../../outbox/outbox.ts'
import { flagsOf, statusesOf } from './event-json.ts'
import type { EndedMessage, ListedEvent, TeamEventBefore, WrittenTeamEvent } from './team-event.store.ts'

type EventMessageType = Extract<MessageType, `event.${string}`>

const dayMs = 86_400_000
/** Changes of an ongoing event that is older than this are not reported. */
const ongoingMs = 7 * dayMs

export type EventContext = {
  readonly now: Date
  /** Whether the transaction writes the event from a delivery; false if it only rematches it. */
  readonly isObserved: boolean
  /** Ends that were reported to the team; null: a message without an end. */
  readonly reportedEnds: readonly (string | null)[]
}

/**
 * Returns the messages for a written row; `before` is null if it is new.
 *
 * - A new row: started, and ended if it has ended; only within a day of its start, and only if it is ongoing or was
 *   observed.
 * - An end is set: ended, unless that is a day ago or this end was reported.
 * - An end is removed: no message, since a replay is rebuilding the event.
 * - The end, a peak or a flag changed: updated, unless the event ended a day ago, or its end was reported and a replay
 *   rebuilds it.
 */
export function eventMessageTypes(
  after: TeamEventBefore & { readonly start_at: Date },
  before: TeamEventBefore | null,
  { now, isObserved, reportedEnds }: EventContext,
): EventMessageType[] {
  const isWithin = (at: Date, ms: number) => at.getTime() > now.getTime() - ms
  const ended = after.end_at !== null
  if (before === null) {
    if (!isWithin(after.start_at, dayMs) || (ended && !isObserved)) return []
    return ended ? ['event.started', 'event.ended'] : ['event.started']
  }
  if (!isChanged(before, after)) return []
  if (after.end_at === null) {
    const isNews = before.end_at === null && isWithin(after.start_at, ongoingMs) && reportedEnds.length === 0
    return isNews ? ['event.updated'] : []
  }
  if (!isWithin(after.end_at, dayMs)) return []
  if (before.end_at !== null) return ['event.updated']
  return reportedEnds.includes(after.end_at.toISOString()) ? [] : ['event.ended']
}

const isChanged = (before: TeamEventBefore, after: TeamEventBefore): boolean =>
  before.end_at?.getTime() !== after.end_at?.getTime() ||
  before.affected_bps !== after.affected_bps ||
  before.affected_pps !== after.affected_pps ||
  before.flags !== after.flags

/** Returns the messages of one transaction, ordered by event, team and type. */
export function eventMessages(
  rows: readonly ListedEvent[],
  written: readonly WrittenTeamEvent[],
  ended: readonly EndedMessage[],
  isObserved: boolean,
): NewMessage[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  const ends = Map.groupBy(ended, keyOf)
  return written.toSorted(byEventAndTeam).flatMap(({ before, now, ...key }) => {
    const after = byKey.get(keyOf(key))!
    const reportedEnds = (ends.get(keyOf(key)) ?? []).map(({ end }) => end)
    return eventMessageTypes(after, before, { now, isObserved, reportedEnds }).map((type) => ({
      teamId: after.team_id,
      type,
      data: eventMessageData(after),
    }))
  })
}

type Key = { readonly team_id: number; readonly event_id: string }

const keyOf = ({ team_id, event_id }: Key): string => `${team_id} ${event_id}`

function byEventAndTeam(a: Key, b: Key): number {
  if (a.event_id !== b.event_id) return a.event_id < b.event_id ? -1 : 1
  return a.team_id - b.team_id
}

/** Returns the content of a message about the event. */
export const eventMessageData = (row: ListedEvent) => ({
  id: row.event_id,
  affected_network: row.affected_network ?? '',
  classification_key: row.classification_key,
  start: row.start_at.toISOString(),
  end: row.end_at?.toISOString() ?? null,
  affected_bps: row.affected_bps,
  affected_pps: row.affected_pps,
  flags: flagsOf(row.flags),
  status: statusesOf(row.facet.status),
})
