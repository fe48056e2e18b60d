// Marks: Pharos' own actions on an event of a team, added to the detector's statuses and flags. A mark is a fact that a
// loop has observed; deliveries never change it.
import { eventMarks, type EventMark, type RelatedEventDetail } from '@pharos/contract/events/event'
import type { Db, Trx } from '../../db/postgres.ts'
import {
  type findMarks,
  listBlackholedMarks,
  listMarks,
  saveMarks,
  type EventOfTeam,
  type Marks,
} from './event-mark.store.ts'
import { lockReported } from '../event/event.store.ts'
import { showEvents } from './show-event.ts'
import { lockTeams } from './team-event.store.ts'

export { saveEffects, type MarkEffect } from './event-mark.store.ts'

/** The marks to set (true) and to remove (false); others stay as they are. */
export type MarkChange = {
  readonly eventId: string
  readonly marks: Readonly<Partial<Record<EventMark, boolean>>>
}

/**
 * Sets and removes marks of a team's events, updates the team's list, and reports visible changes as `event.updated`.
 * Returns the number of events whose marks changed. Ignores events that do not exist. Locks the events, then the team's
 * list, as the ingest loop does: the transaction must not have a lock that this loop waits for. At most some hundred
 * events per call.
 */
export async function markEvents(trx: Trx, teamId: number, changes: readonly MarkChange[]): Promise<number> {
  const events = new Map(
    (
      await lockReported(
        trx,
        changes.map(({ eventId }) => eventId),
      )
    ).map((event) => [event.id, event]),
  )
  await lockTeams(trx, [teamId])
  const stored = new Map(
    (await listMarks(trx, [...events.keys()]))
      .filter(({ team_id }) => team_id === teamId)
      .map(({ event_id, marks }) => [event_id, marks]),
  )
  const now = new Date().toISOString()
  const marked = changes.flatMap(({ eventId, marks: change }) => {
    const before = stored.get(eventId) ?? {}
    const after = changedMarks(before, change, now)
    return events.has(eventId) && after !== before ? [{ eventId, marks: after }] : []
  })
  await saveMarks(trx, teamId, marked)
  await showEvents(
    trx,
    teamId,
    marked.map(({ eventId }) => events.get(eventId)!),
  )
  return marked.length
}

/** Sets the mark BLACKHOLED of exactly these events, and removes it from others. Returns how many events have other marks. */
export async function markBlackholed(db: Db, events: readonly EventOfTeam[]): Promise<number> {
  const keyOf = ({ teamId, eventId }: EventOfTeam) => `${teamId} ${eventId}`
  const marked = await listBlackholedMarks(db)
  const [wanted, shown] = [new Set(events.map(keyOf)), new Set(marked.map(keyOf))]
  const changed = [...events, ...marked].filter(
    (event) => wanted.has(keyOf(event)) !== shown.has(keyOf(event)),
  )
  let count = 0
  for (const [teamId, ofTeam] of Map.groupBy(changed, (event) => event.teamId)) {
    const changes = ofTeam.map((event) => ({
      eventId: event.eventId,
      marks: { BLACKHOLED: wanted.has(keyOf(event)) },
    }))
    count += await db.transaction().execute((trx) => markEvents(trx, teamId, changes))
  }
  return count
}

/** Returns the same object without a change. A mark that is already set keeps its time. */
function changedMarks(before: Marks, change: MarkChange['marks'], now: string): Marks {
  const isSet = (mark: EventMark) => change[mark] ?? mark in before
  if (eventMarks.every((mark) => isSet(mark) === mark in before)) return before
  return Object.fromEntries(eventMarks.filter(isSet).map((mark) => [mark, before[mark] ?? now]))
}

/** Returns the marks for `include=marks`. */
export const presentMarks = ({
  marks,
  effect,
}: Awaited<ReturnType<typeof findMarks>>): NonNullable<RelatedEventDetail['marks']> =>
  eventMarks.flatMap((mark) =>
    marks[mark] === undefined
      ? []
      : [{ mark, since: marks[mark], ...(mark === 'MITIGATION_ACTIVE' && effect ? effect : {}) }],
  )
