// Messages to the team about its lists, for the stream and webhooks.
import { shieldReasonText, type ShieldReason } from '@pharos/contract/reason/shield-reason'
import type { ShieldListChange } from '@pharos/contract/messages/webhook-message'
import type { Trx } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { writeMessages } from '../outbox/outbox.ts'

export type ListChange = {
  readonly teamId: number
  readonly listId: number
  readonly prefix: Prefix
  readonly version: number
  readonly change: ShieldListChange
  readonly reason?: ShieldReason | null
  readonly attrs?: Readonly<Record<string, unknown>>
  /** Ids of expired rules. */
  readonly ruleIds?: readonly number[]
}

/** Writes one message for each change. */
export async function writeListMessages(trx: Trx, changes: readonly ListChange[]): Promise<void> {
  const at = new Date().toISOString()
  await writeMessages(
    trx,
    changes.map(({ teamId, listId, prefix, version, change, reason = null, attrs = {}, ruleIds = [] }) => ({
      teamId,
      type: 'shield.list_changed' as const,
      data: {
        list_id: listId,
        prefix,
        version,
        change,
        reason,
        detail: reason === null ? '' : shieldReasonText(reason, attrs),
        rule_ids: [...ruleIds],
        at,
      },
    })),
  )
}
