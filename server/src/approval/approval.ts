// Approvals for staff: listed, read, approved and rejected. A decision covers exactly the immutable items of the
// approval: a plan with more closes it and opens another one (plan-approvals.ts).
import {
  approvalItemsMax,
  type Approval,
  type ApprovalDetails,
  type ApprovalItem,
  type listApprovalsRoute,
} from '@pharos/contract/operator/approval'
import { approvalDetail, neverApproved, type ApprovalAreaName } from '@pharos/contract/reason/approval-reason'
import type { QueryOf } from '@pharos/contract/route'
import { approvalMessageItemsMax, type MessageData } from '@pharos/contract/messages/webhook-message'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { wake } from '../db/wake.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { writeMessages } from '../outbox/outbox.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import type { ApprovalArea, ApprovalAreas } from './area.ts'
import {
  decideRow,
  findApproval,
  listApprovalRows,
  listRegionSlugs,
  listStoredItems,
  reasonOf,
  type ApprovalRow,
} from './approval.store.ts'

export type ApprovalDeps = { readonly db: Db; readonly areas: ApprovalAreas }

/** The author of a decision, as in the audit entry. */
type Author = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/** Returns a page of all approvals, and the exact count. */
export async function listApprovals(
  { db, areas }: ApprovalDeps,
  _operation: unknown,
  query: QueryOf<typeof listApprovalsRoute>,
): Promise<{ results: Approval[]; count: number }> {
  const { region, zone, include } = query
  if (region) requireRegions(region, await listRegionSlugs(db))
  const zones = zone?.map((name) => `${name.toLowerCase().replace(/\.$/, '')}.`)
  const { page, count } = await listApprovalRows(db, { ...query, ...(zones && { zone: zones }) })
  if (!include?.split(',').includes('items')) return { results: page.map(present), count }
  const items = await readItems(db, areas, page, approvalItemsMax)
  return { results: page.map((row) => ({ ...present(row), items: items.get(row.id) ?? [] })), count }
}

function requireRegions(slugs: readonly string[], valid: readonly string[]): void {
  const unknown = slugs.find((slug) => !valid.includes(slug))
  if (unknown !== undefined) throw invalid(['query', 'region'], 'region', { valid })
}

/** Returns one approval with its items. Throws `not_found`. */
export async function getApproval(
  { db, areas }: ApprovalDeps,
  _operation: unknown,
  id: number,
): Promise<ApprovalDetails> {
  const row = await findApproval(db, id)
  if (!row) throw notFound('approval')
  const items = (await readItems(db, areas, [row], approvalItemsMax)).get(id) ?? []
  return {
    ...present(row),
    items,
    items_truncated: row.item_count > items.length,
    details: (await areas[row.area].details?.(row)) ?? null,
  }
}

type Decision = { readonly note?: string }

/**
 * Approves or rejects. Repeating the same decision has no effect. Throws `conflict` if it was decided otherwise, was
 * closed because the plan has changed, or can never be approved.
 */
const decideFor =
  (state: 'approved' | 'rejected') =>
  (
    deps: ApprovalDeps,
    operation: StaffOperation,
    id: number,
    { note }: Decision = {},
  ): Promise<ChangeAnswer<Approval>> =>
    runOwnerChange(deps.db, operation, (trx) => decide(deps.areas, trx, auditOf(operation), id, state, note))

export const approveChanges = decideFor('approved')
export const rejectChanges = decideFor('rejected')

/** For a command of the operator. */
export const decideAs = (
  { db, areas }: ApprovalDeps,
  by: Author,
  id: number,
  state: 'approved' | 'rejected',
  note?: string,
): Promise<Approval> =>
  db.transaction().execute(async (trx) => (await decide(areas, trx, by, id, state, note)).body)

async function decide(
  areas: ApprovalAreas,
  trx: Trx,
  by: Author,
  id: number,
  state: 'approved' | 'rejected',
  note: string | undefined,
): Promise<{ body: Approval; before: Approval }> {
  const before = await findApproval(trx, id)
  if (!before) throw notFound('approval')
  const area = areas[before.area]
  const refused = before.findings.some(({ reason }) => neverApproved.has(reason))
  if (state === 'approved' && refused)
    throw fail('conflict', 'approvalRefused', { detail: approvalDetail(before.area, before.findings) })
  const minutes = state === 'approved' ? area.approvalMinutes : (area.rejectionHours ?? NaN) * 60
  const decision = { state, actor: by.actor, note: note ?? null, minutes: minutes || null }
  const isDecided = await decideRow(trx, id, decision)
  // Read after the row is locked: the loop may have closed it a moment before.
  const row = (await findApproval(trx, id))!
  if (!isDecided && row.state === 'closed') throw fail('conflict', 'approvalClosed')
  if (!isDecided && row.state !== state) throw fail('conflict', 'approvalDecided', { state: row.state })
  const body = present(row)
  if (isDecided) {
    await writeAudit(trx, { ...by, teamId: null, ...(await entryOf(trx, row)) })
    await area.onDecided?.(trx, row)
    await writeApprovalMessages(trx, area, 'approval.decided', [id])
    await wake(trx, area.wakes)
  }
  return { body, before: present(before) }
}

/** The audit log contains the decision with all stored items. */
async function entryOf(trx: Trx, row: ApprovalRow) {
  const items = (await listStoredItems(trx, [row.id], row.item_count + 1)).get(row.id) ?? []
  const { area, subject, reason, state, note, item_count } = present(row)
  return {
    action: 'approval.decide',
    target: `approval:${row.id}`,
    after: { area, subject: subject.name, reason, state, note, item_count, items },
  }
}

type ApprovalMessage = 'approval.opened' | 'approval.reminder' | 'approval.decided'

export async function writeApprovalMessages(
  trx: Trx,
  area: ApprovalArea,
  type: ApprovalMessage,
  ids: readonly number[],
): Promise<void> {
  for (const id of ids)
    await writeMessages(trx, [{ teamId: null, type, data: await describeApproval(trx, area, id) }])
}

/** Returns the content of mails and messages about an approval. */
export async function describeApproval(
  trx: Trx,
  area: ApprovalArea,
  id: number,
): Promise<MessageData<ApprovalMessage>> {
  const row = (await findApproval(trx, id))!
  const items = await itemsOf(trx, area, [row], approvalMessageItemsMax)
  return {
    ...present(row),
    items: items.get(id) ?? [],
    teams: (await area.teams?.(trx, id)) ?? [],
  }
}

/** Reads the items of rows of several areas, by the id of the approval. */
async function readItems(
  db: Db,
  areas: ApprovalAreas,
  rows: readonly ApprovalRow[],
  limit: number,
): Promise<ReadonlyMap<number, ApprovalItem[]>> {
  const groups = Map.groupBy(rows, ({ area }) => area)
  const maps = await Promise.all(
    Array.from(groups, ([name, own]: [ApprovalAreaName, ApprovalRow[]]) =>
      itemsOf(db, areas[name], own, limit),
    ),
  )
  return new Map(maps.flatMap((map) => [...map]))
}

async function itemsOf(
  db: Db | Trx,
  area: ApprovalArea,
  rows: readonly ApprovalRow[],
  limit: number,
): Promise<ReadonlyMap<number, ApprovalItem[]>> {
  const ids = rows.map(({ id }) => id)
  if (area.items) return area.items(db, ids, limit)
  const stored = await listStoredItems(db, ids, limit)
  const unknown = { router: null, from: null, to: null, announcement_id: null, requested: null }
  return new Map(
    rows.map((row) => [
      row.id,
      (stored.get(row.id) ?? []).map((item) => ({ ...unknown, ...item, team: teamOf(row) })),
    ]),
  )
}

function present(row: ApprovalRow): Approval {
  const { id, area, findings, item_count, state, decided_by, note, replaces } = row
  return {
    id,
    area,
    subject: subjectOf(row),
    team: teamOf(row),
    reason: reasonOf(row),
    reasons: findings,
    detail: approvalDetail(area, findings),
    item_count,
    state,
    created: row.created.toISOString(),
    decided: row.decided?.toISOString() ?? null,
    decided_by,
    note,
    valid_until: row.valid_until?.toISOString() ?? null,
    replaces,
  }
}

function subjectOf(row: ApprovalRow): Approval['subject'] {
  const { area, region_id, region, zone_id, zone, list_id, prefix, scrubber, findings } = row
  if (region_id !== null) return { type: 'region', id: region_id, name: region ?? '' }
  if (zone_id !== null) return { type: 'zone', id: zone_id, name: zone?.replace(/(?<=.)\.$/, '') ?? '' }
  if (list_id !== null) return { type: 'shield_list', id: list_id, name: prefix ?? '' }
  if (scrubber !== null) return { type: 'scrubber', id: null, name: scrubber }
  if (area === 'shield') return { type: 'scrubbers', id: null, name: 'all scrubbers' }
  if (area === 'dns') return { type: 'catalog', id: null, name: 'catalog zone' }
  return { type: 'import', id: null, name: String(findings[0]?.attrs['source'] ?? '') }
}

const teamOf = ({ team_id, team_name }: Pick<ApprovalRow, 'team_id' | 'team_name'>): Approval['team'] =>
  team_id === null ? null : { id: team_id, name: team_name ?? '' }
