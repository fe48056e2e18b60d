// Which changes of a status are reported to the team: those of the status that is shown. Pure.
import type { NewMessage } from '../../outbox/outbox.ts'
import type { AnnouncementStatus } from './announcement.ts'

export type StatusRow = {
  readonly id: number
  readonly team_id: number
  readonly cidr: string
  readonly origin_asn: number
  /** The status as it is stored, which claims nothing about routers that cannot be read. */
  readonly stored: AnnouncementStatus
  /** The status as it is shown. */
  readonly shown: AnnouncementStatus
  /** The status that the team was last notified of, or the one before the change. */
  readonly notified: AnnouncementStatus
  /** Time of the transaction. */
  readonly at: Date
}

/** Messages for the rows whose shown status is not the one that the team knows; by id. */
export function statusMessages(rows: readonly StatusRow[]): NewMessage[] {
  return rows
    .filter(({ shown, notified }) => shown !== notified)
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, team_id: teamId, cidr, origin_asn, shown, notified, at }) => ({
      teamId,
      type: 'announcement.status_changed',
      data: { announcement_id: id, cidr, origin_asn, before: notified, after: shown, at: at.toISOString() },
    }))
}
