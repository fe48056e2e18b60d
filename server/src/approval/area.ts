// The contribution of an area to approvals: the validity of decisions, the loops to wake, and the area's details of
// changes.
import type { ApprovalDetails, ApprovalItem } from '@pharos/contract/operator/approval'
import type { ApprovalAreaName } from '@pharos/contract/reason/approval-reason'
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import type { Db, Trx } from '../db/postgres.ts'
import type { WakeName } from '../db/wake.ts'
import type { ApprovalRow } from './approval.store.ts'
import type { Coverage } from './coverage.ts'

export type ApprovalArea<Name extends ApprovalAreaName = ApprovalAreaName> = {
  readonly name: Name
  readonly covers: Coverage
  /** Validity of an approval; null: without an end. */
  readonly approvalMinutes: number | null
  /** Validity of a rejection; null: without an end. */
  readonly rejectionHours: number | null
  /** The loops that apply the decision. */
  readonly wakes: WakeName
  /** Reads the first items of each approval, with teams and requests; absent: the items as stored, of the team of the approval. */
  readonly items?: (
    db: Db | Trx,
    ids: readonly number[],
    limit: number,
  ) => Promise<ReadonlyMap<number, ApprovalItem[]>>
  /** Counts the withdrawals of each team. */
  readonly teams?: (db: Db | Trx, id: number) => Promise<MessageData<'approval.opened'>['teams']>
  readonly details?: (row: ApprovalRow) => Promise<ApprovalDetails['details']>
  /** Runs in the transaction of the decision. */
  readonly onDecided?: (trx: Trx, row: ApprovalRow) => Promise<void>
}

export type ApprovalAreas = { readonly [Name in ApprovalAreaName]: ApprovalArea<Name> }
