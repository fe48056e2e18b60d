// Decisions of staff about holds of any area: routes, DNS and shield. A decision covers exactly what the hold is about, is made once, and
// wakes the loops that wait for it.
import type { HoldState } from '@pharos/contract/hold'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { wake, type WakeName } from '../db/wake.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { fail, notFound, type Failure } from '../runtime/error.ts'

export type HoldDeps = { readonly db: Db }

export type HoldDecision = 'approved' | 'rejected'

/** The holds of one area. */
export type HoldArea<Row extends { readonly state: HoldState }, Wire extends object> = {
  /** In the audit log, such as `shield-hold` of `shield-hold:12`. */
  readonly target: string
  readonly wakes: WakeName
  readonly find: (db: Db | Trx, id: number) => Promise<Row | undefined>
  /** Decides an open hold; returns false if it is not open. */
  readonly save: (trx: Trx, id: number, decision: HoldDecision, actor: string) => Promise<boolean>
  readonly present: (row: Row) => Wire
  /** The decided hold in the audit entry. */
  readonly audited: (row: Row) => object
  /**
   * The text that a decision must name: it changes with the plan of the hold. Absent if a hold never changes, so that its id is enough: another plan is
   * another hold.
   */
  readonly evidenceOf?: (row: Row) => string
  /** Why a hold can never be approved. */
  readonly refusal?: (row: Row) => Failure | undefined
  readonly onDecided?: (trx: Trx, id: number) => Promise<void>
}

/** The author of a decision, as in the audit entry. */
type Author = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/**
 * Returns the operations of an area. Repeating the same decision changes nothing. They throw `conflict` if the hold was decided otherwise, was
 * closed because the plan has changed, or can never be approved.
 */
export function holdDecisions<Row extends { readonly state: HoldState }, Wire extends object>(
  area: HoldArea<Row, Wire>,
) {
  const decideFor = (
    { db }: HoldDeps,
    operation: StaffOperation,
    id: number,
    decision: HoldDecision,
    shown?: string,
  ): Promise<ChangeAnswer<Wire>> =>
    runOwnerChange(db, operation, (trx) => decide(area, trx, auditOf(operation), id, decision, shown))
  return {
    approve: (deps: HoldDeps, operation: StaffOperation, id: number) =>
      decideFor(deps, operation, id, 'approved'),
    /** `evidence`: of the hold as it was read. Throws `conflict` if the hold has changed since. */
    approveShown: (
      deps: HoldDeps,
      operation: StaffOperation,
      id: number,
      { evidence }: { readonly evidence: string },
    ) => decideFor(deps, operation, id, 'approved', evidence),
    reject: (deps: HoldDeps, operation: StaffOperation, id: number) =>
      decideFor(deps, operation, id, 'rejected'),
    /** As `approveShown`. */
    rejectShown: (
      deps: HoldDeps,
      operation: StaffOperation,
      id: number,
      { evidence }: { readonly evidence: string },
    ) => decideFor(deps, operation, id, 'rejected', evidence),
    /** For a command of the operator. */
    decideAs: (
      { db }: HoldDeps,
      by: Author,
      id: number,
      decision: HoldDecision,
      shown?: string,
    ): Promise<Wire> =>
      db.transaction().execute(async (trx) => (await decide(area, trx, by, id, decision, shown)).body),
    async get({ db }: HoldDeps, _operation: unknown, id: number): Promise<Wire> {
      const row = await area.find(db, id)
      if (!row) throw notFound('hold')
      return area.present(row)
    },
  }
}

async function decide<Row extends { readonly state: HoldState }, Wire extends object>(
  { target, wakes, find, save, present, audited, evidenceOf, refusal, onDecided }: HoldArea<Row, Wire>,
  trx: Trx,
  by: Author,
  id: number,
  decision: HoldDecision,
  shown: string | undefined,
): Promise<{ body: Wire; before: Wire }> {
  const before = await find(trx, id)
  if (!before) throw notFound('hold')
  const isShown = (row: Row): boolean => evidenceOf === undefined || evidenceOf(row) === shown
  const refused = decision === 'approved' && refusal?.(before)
  if (refused) throw refused
  const isDecided = await save(trx, id, decision, by.actor)
  // Read after the row is locked: the loop may have changed it a moment before.
  const hold = (await find(trx, id))!
  if (isDecided && !isShown(hold)) throw fail('conflict', 'holdChanged')
  if (!isDecided && hold.state === 'closed') throw fail('conflict', 'holdClosed')
  if (!isDecided && hold.state !== decision) throw fail('conflict', 'holdDecided', { state: hold.state })
  if (isDecided) {
    const entry = { action: 'hold.decide', target: `${target}:${id}`, after: audited(hold) }
    await writeAudit(trx, { ...by, teamId: null, ...entry })
    await onDecided?.(trx, id)
    await wake(trx, wakes)
    await wake(trx, 'hold-alerts')
  }
  return { body: present(hold), before: present(before) }
}
