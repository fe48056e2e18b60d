// The port between a decided restore and the domains: how the decisions of an area become changes of its rows.
import type { RestoreAction } from '@pharos/contract/operator/restore'
import type { AuditEntry } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'

/** The author of a decision, as in the audit entry. */
export type DecisionAuthor = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/** A decided difference, with the values stored by its area. */
export type DecidedItem = {
  readonly source: string
  readonly subject: string
  readonly kind: string
  readonly team_id: number | null
  readonly database: Readonly<Record<string, unknown>> | null
  readonly network: Readonly<Record<string, unknown>> | null
  readonly decision: RestoreAction
}

/**
 * Reads external inputs of the decisions, and returns the change. `change` runs in the transaction that closes the
 * restore, and throws `conflict` if a decision cannot be applied.
 */
export type Settle = (
  items: readonly DecidedItem[],
) => Promise<(trx: Trx, by: DecisionAuthor, now: Date) => Promise<void>>
