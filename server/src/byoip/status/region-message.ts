// The messages of the stream about regions whose state changed while the announcement's status stayed: with a changed
// status, the message about the status is sufficient. One message per team and transaction, however many announcements.
// Pure.
import { regionChangesMax } from '@pharos/contract/messages/stream'
import type { NewStreamMessage } from '../../outbox/outbox.ts'
import type { RegionState } from './announcement.ts'

export type RegionChange = {
  /** Id of the announcement. */
  readonly id: number
  readonly teamId: number
  /** Slug. */
  readonly region: string
  readonly state: RegionState
}

/** Returns a message for each team with changes. */
export function regionMessages(changes: readonly RegionChange[], at: Date): NewStreamMessage[] {
  return [...Map.groupBy(changes, ({ teamId }) => teamId)].map(([teamId, ofTeam]) => ({
    teamId,
    type: 'announcement.regions_changed',
    data: {
      changes: ofTeam
        .slice(0, regionChangesMax)
        .map(({ id, region, state }) => ({ announcement_id: id, region, state })),
      truncated: ofTeam.length > regionChangesMax,
      at: at.toISOString(),
    },
  }))
}
