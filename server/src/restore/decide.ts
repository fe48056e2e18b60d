// Decisions of staff about a restore, and its end: everything that was decided becomes one transaction, after which loops send again.
import {
  actionsOfArea,
  comparedAreas,
  type closeRestoreRoute,
  type ComparedArea,
  type decideRestoreRoute,
  type Restore,
  type RestoreAction,
  type RestoreArea,
} from '@pharos/contract/operator/restore'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import { readDatabaseIdentity, saveDatabaseIdentity, wakeConcerned } from './gate.store.ts'
import { presentRestore, uncomparedOf } from './restore.ts'
import {
  cancelOldDeliveries,
  discardMails,
  findItems,
  listDecidedItems,
  lockRestore,
  markClosed,
  saveItemDecision,
  type DecidedItemRow,
  type RestoreRow,
} from './restore.store.ts'
import type { DecisionAuthor, Settle } from './settle.ts'

export type DecideDeps = {
  readonly db: Db
  readonly settle: Readonly<Record<ComparedArea, Settle>>
  readonly now: () => Date
}

type Decision = BodyOf<typeof decideRestoreRoute>
type Closing = BodyOf<typeof closeRestoreRoute>
type Changed = { readonly body: Restore; readonly before: Restore }

export const decideRestore = (
  deps: Pick<DecideDeps, 'db'>,
  operation: StaffOperation,
  id: number,
  decision: Decision,
): Promise<ChangeAnswer<Restore>> =>
  runOwnerChange(deps.db, operation, (trx) => decide(trx, auditOf(operation), id, decision))

/** For a command of the operator. */
export const decideRestoreAs = (
  { db }: Pick<DecideDeps, 'db'>,
  by: DecisionAuthor,
  id: number,
  decision: Decision,
): Promise<Restore> => db.transaction().execute(async (trx) => (await decide(trx, by, id, decision)).body)

async function decide(
  trx: Trx,
  by: DecisionAuthor,
  id: number,
  { area, action, items }: Decision,
): Promise<Changed> {
  const before = await lockOpen(trx, id)
  const actions = actionsOfArea[area]
  if (!actions.includes(action)) throw fail('conflict', 'restoreAction', { area, actions })
  if (items) await requireItems(trx, id, area, action, items)
  const decided = await saveItemDecision(trx, id, { area, action, ids: items, actor: by.actor })
  if (decided > 0)
    await writeAudit(trx, {
      ...by,
      teamId: null,
      action: 'restore.decide',
      target: `restore:${id}`,
      after: { area, action, items: decided },
    })
  return changed(trx, before)
}

async function lockOpen(trx: Trx, id: number): Promise<RestoreRow> {
  const row = await lockRestore(trx, id)
  if (!row) throw notFound('restore')
  if (row.closed !== null) throw fail('conflict', 'restoreClosed')
  return row
}

async function requireItems(
  trx: Trx,
  id: number,
  area: RestoreArea,
  action: RestoreAction,
  ids: readonly number[],
): Promise<void> {
  const found = await findItems(trx, id, area, ids)
  if (found.length < new Set(ids).size) throw notFound('difference')
  const refused = found.filter(({ adoptable }) => action === 'adopt' && !adoptable)
  if (refused.length > 0)
    throw fail('conflict', 'notAdoptable', { subjects: refused.map(({ subject }) => subject) })
}

const changed = async (trx: Trx, before: RestoreRow): Promise<Changed> => ({
  body: presentRestore((await lockRestore(trx, before.id))!),
  before: presentRestore(before),
})

export async function closeRestore(
  deps: DecideDeps,
  operation: StaffOperation,
  id: number,
  closing: Closing,
): Promise<ChangeAnswer<Restore>> {
  const close = await prepareClose(deps, id)
  return runOwnerChange(deps.db, operation, (trx) => close(trx, auditOf(operation), closing))
}

/** For a command of the operator. */
export async function closeRestoreAs(
  deps: DecideDeps,
  by: DecisionAuthor,
  id: number,
  closing: Closing,
): Promise<Restore> {
  const close = await prepareClose(deps, id)
  return deps.db.transaction().execute(async (trx) => (await close(trx, by, closing)).body)
}

/** Reads external inputs of the decisions before the transaction. */
async function prepareClose(
  { db, settle, now }: DecideDeps,
  id: number,
): Promise<(trx: Trx, by: DecisionAuthor, closing: Closing) => Promise<Changed>> {
  const decided = await listDecidedItems(db, id)
  const { found: identity } = await readDatabaseIdentity(db)
  const settled = await Promise.all(
    comparedAreas.map((area) => settle[area](decided.filter((item) => item.area === area))),
  )
  return async (trx, by, { accept_uncompared: acceptsUncompared = false }) => {
    const before = await lockOpen(trx, id)
    requireDecided(before, acceptsUncompared)
    requireSame(decided, await listDecidedItems(trx, id))
    for (const change of settled) await change(trx, by, now())
    if (isDiscarded(decided, 'mails')) await discardMails(trx, before.detected)
    if (isDiscarded(decided, 'deliveries')) await cancelOldDeliveries(trx, before.detected)
    await saveDatabaseIdentity(trx, identity)
    await markClosed(trx, id, by.actor)
    await writeAudit(trx, {
      ...by,
      teamId: null,
      action: 'restore.close',
      target: `restore:${id}`,
      after: { ...countsOf(decided), uncompared: uncomparedOf(before) },
    })
    await wakeConcerned(trx)
    return changed(trx, before)
  }
}

function requireDecided(row: RestoreRow, acceptsUncompared: boolean): void {
  const items = row.areas.reduce((sum, { undecided }) => sum + undecided, 0)
  const uncompared = acceptsUncompared ? [] : uncomparedOf(row)
  if (items + uncompared.length > 0) throw fail('undecided', 'items', { items, uncompared })
}

/** Something was found or decided after it was read: the request is to be repeated. */
function requireSame(read: readonly DecidedItemRow[], now: readonly DecidedItemRow[]): void {
  const text = (rows: readonly DecidedItemRow[]) => JSON.stringify(rows)
  if (text(read) !== text(now)) throw fail('conflict', 'planOutdated')
}

const isDiscarded = (decided: readonly DecidedItemRow[], area: RestoreArea): boolean =>
  decided.some((item) => item.area === area && item.decision === 'discard')

/** Such as `{ routes: { apply: 3, adopt: 1 } }`. */
function countsOf(decided: readonly DecidedItemRow[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {}
  for (const { area, decision } of decided) {
    const ofArea = (counts[area] ??= {})
    ofArea[decision] = (ofArea[decision] ?? 0) + 1
  }
  return counts
}
