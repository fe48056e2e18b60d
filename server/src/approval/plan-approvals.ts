// Updates the open approvals of an area from the plans of its loop: keeps approvals that cover a plan, closes the
// others, opens new ones.
import type { Db, Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import type { ApprovalArea } from './area.ts'
import { writeApprovalMessages } from './approval.ts'
import {
  closeRows,
  endDecision,
  insertApproved,
  insertOpen,
  listDecisionRows,
  lockOpen,
  type ApprovalScope,
} from './approval.store.ts'
import { approvalChange, type ApprovalSlot, type PlannedApproval } from './coverage.ts'

export type ApprovalDecision = 'approved' | 'rejected'

/**
 * Compares the open approvals in the scope with all plans of the loop there. An approval whose plan has grown or
 * differs is closed in the same transaction in which its replacement opens. An exact plan that staff have decided opens
 * no approval. Returns the ids of new ones.
 */
export async function planApprovals(
  trx: Trx,
  area: ApprovalArea,
  scope: ApprovalScope,
  planned: readonly PlannedApproval[],
): Promise<number[]> {
  const open = await lockOpen(trx, area.name, scope)
  const kept = new Set<number>()
  const opening: { readonly one: PlannedApproval; readonly replaces: number | null }[] = []
  for (const one of planned) {
    const before = open.find((row) => isSameSlot(row, one))
    if (before && approvalChange(area.covers, before, one) === 'keep') kept.add(before.id)
    else opening.push({ one, replaces: before?.id ?? null })
  }
  const closed = open.map(({ id }) => id).filter((id) => !kept.has(id))
  if (closed.length + opening.length === 0) return []
  const decided =
    area.covers === 'exact' && opening.length > 0
      ? await listDecisions(
          trx,
          area,
          opening.map(({ one }) => one.evidence),
        )
      : new Map<string, ApprovalDecision>()
  await closeRows(trx, closed)
  await writeApprovalMessages(trx, area, 'approval.decided', closed)
  const opened: number[] = []
  for (const { one, replaces } of opening)
    if (!decided.has(one.evidence)) opened.push((await insertOpen(trx, area.name, one, replaces)) ?? 0)
  const ids = opened.filter((id) => id > 0)
  await writeApprovalMessages(trx, area, 'approval.opened', ids)
  if (ids.length > 0) await wake(trx, 'approval-alerts')
  return ids
}

/** Like `planApprovals`, in a separate transaction. */
export const planApprovalsIn = (
  db: Db,
  area: ApprovalArea,
  scope: ApprovalScope,
  planned: readonly PlannedApproval[],
): Promise<number[]> => db.transaction().execute((trx) => planApprovals(trx, area, scope, planned))

/** Returns the valid decisions of staff in the area, by evidence. */
export const listDecisions = (
  db: Db | Trx,
  area: ApprovalArea,
  evidence?: readonly string[],
): Promise<ReadonlyMap<string, ApprovalDecision>> => listDecisionRows(db, area.name, evidence)

/** Returns the decision about exactly this plan; undefined without a valid one. */
export async function findDecision(
  db: Db | Trx,
  area: ApprovalArea,
  evidence: string,
): Promise<ApprovalDecision | undefined> {
  return (await listDecisions(db, area, [evidence])).get(evidence)
}

/** Ends an approval that was applied: the same changes need another one. */
export const endApproval = (trx: Trx, area: ApprovalArea, evidence: string): Promise<void> =>
  endDecision(trx, area.name, evidence)

/** Adds an approval that staff have given elsewhere, with the validity of any other. */
export const addApproved = (
  trx: Trx,
  area: ApprovalArea,
  planned: PlannedApproval,
  actor: string,
): Promise<void> => insertApproved(trx, area.name, planned, { actor, minutes: area.approvalMinutes })

const isSameSlot = (row: Required<ApprovalSlot>, slot: ApprovalSlot): boolean =>
  row.kind === slot.kind &&
  row.regionId === (slot.regionId ?? null) &&
  row.zoneId === (slot.zoneId ?? null) &&
  row.listId === (slot.listId ?? null) &&
  row.scrubber === (slot.scrubber ?? null)
