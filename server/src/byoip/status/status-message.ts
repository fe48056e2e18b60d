// Selects the status changes that are reported to the team: changes of the reported status. Pure.
import type { NewMessage } from '../../outbox/outbox.ts'
import type { AnnouncementStatus } from './announcement.ts'

export type ShownChange = {
  readonly id: number
  readonly teamId: number
  readonly cidr: string
  readonly originAsn: number
  /** The status that the team was last notified of, or the status before the change. */
  readonly notified: AnnouncementStatus
  readonly shown: AnnouncementStatus
}

/** Returns messages for the announcements whose reported status differs from the last one sent to the team, by id. */
export function statusMessages(changes: readonly ShownChange[], at: Date): NewMessage[] {
  return changes
    .filter(({ shown, notified }) => shown !== notified)
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, teamId, cidr, originAsn, shown, notified }) => ({
      teamId,
      type: 'announcement.status_changed',
      data: {
        announcement_id: id,
        cidr,
        origin_asn: originAsn,
        before: notified,
        after: shown,
        at: at.toISOString(),
      },
    }))
}
