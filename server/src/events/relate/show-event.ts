// The team's view of an event beside the reports of detectors: its own review, and the marks that Pharos sets.
import {
  eventFlags,
  eventMarks,
  eventStatuses,
  type EventFlag,
  type EventStatus,
} from '@pharos/contract/events/event'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { flagBits, flagsOf, statusBits } from './event-json.ts'
import { listMarks, type Marks } from './event-mark.store.ts'
import { eventMessageData } from './event-message.ts'
import type { ReportedEvent } from '../event/event.store.ts'
import { listTeamReviews, type TeamReview } from './review.store.ts'
import { listShown, saveShown, type ShownEvent } from './team-event.store.ts'

export type EventView = {
  readonly review: Pick<TeamReview, 'verdict' | 'acknowledged'> | undefined
  readonly marks: Marks
}
export type ViewOf = (eventId: string, teamId: number) => EventView

/** Reads the reviews and marks of the events, of all teams. */
export async function readViews(trx: Trx, eventIds: readonly string[]): Promise<ViewOf> {
  const keyOf = (one: { readonly event_id: string; readonly team_id: number }) =>
    `${one.event_id} ${one.team_id}`
  const reviews = new Map((await listTeamReviews(trx, eventIds)).map((review) => [keyOf(review), review]))
  const marks = new Map((await listMarks(trx, eventIds)).map((one) => [keyOf(one), one.marks]))
  return (event_id, team_id) => {
    const key = keyOf({ event_id, team_id })
    return { review: reviews.get(key), marks: marks.get(key) ?? {} }
  }
}

/**
 * Returns the status in the view of the team: the event's, with the team's review and the marks. A verdict takes
 * precedence over the detector's. A mitigation has ended when neither the detector nor Pharos has an active one.
 */
export function shownStatus(status: readonly EventStatus[], { review, marks }: EventView): EventStatus[] {
  const shown = new Set(status)
  if (review?.verdict === 'attack') shown.delete('FALSE_POSITIVE')
  if (review?.verdict === 'false_positive') shown.add('FALSE_POSITIVE')
  if (review?.acknowledged) shown.add('ACKNOWLEDGED')
  for (const one of eventStatuses) if (one in marks) shown.add(one)
  if (shown.has('MITIGATION_ACTIVE')) shown.delete('MITIGATION_ENDED')
  return eventStatuses.filter((one) => shown.has(one))
}

/** Returns the flags in the view of the team: the event's flags and the marks. */
export const shownFlags = (flags: readonly EventFlag[], { marks }: EventView): EventFlag[] =>
  eventFlags.filter((flag) => flags.includes(flag) || flag in marks)

/**
 * Applies the reviews and marks of locked events to the team's list, and reports visible changes. Updates the stored
 * JSON and the facet, so that filters, counts and the list agree in the same transaction. Call `lockTeams` first.
 */
export async function showEvents(trx: Trx, teamId: number, events: readonly ReportedEvent[]): Promise<void> {
  const ids = events.map(({ id }) => id)
  const viewOf = await readViews(trx, ids)
  const reported = new Map(events.map((event) => [event.id, event]))
  const changed = (await listShown(trx, teamId, ids)).flatMap((row) => {
    const view = viewOf(row.event_id, teamId)
    return changedRow(row, reported.get(row.event_id)!, view) ?? []
  })
  await saveShown(trx, teamId, changed)
  await writeMessages(
    trx,
    changed.map((row) => ({ teamId, type: 'event.updated', data: eventMessageData(row) })),
  )
}

/** Undefined if the row is already up to date. Flags that are not marks belong to the team's part of the event. */
function changedRow(row: ShownEvent, event: ReportedEvent, view: EventView): ShownEvent | undefined {
  const status = shownStatus(event.status, view)
  const ofPart = flagsOf(row.flags).filter((flag) => !isMark(flag) || event.flags.includes(flag))
  const flags = shownFlags(ofPart, view)
  const bits = { flags: flagBits(flags), status: statusBits(status) }
  if (row.flags === bits.flags && row.facet.status === bits.status) return undefined
  const record = JSON.stringify({ ...(JSON.parse(`${row.record}}`) as object), flags, status }).slice(0, -1)
  return { ...row, flags: bits.flags, record, facet: { ...row.facet, ...bits } }
}

const isMark = (flag: EventFlag): boolean => (eventMarks as readonly string[]).includes(flag)
