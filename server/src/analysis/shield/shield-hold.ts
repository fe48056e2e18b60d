// Decisions of staff about holds of shield. The loops open and close them; a decision covers exactly what the hold is about.
import {
  shieldHoldDetail,
  type listShieldHoldsRoute,
  type ShieldHold as Wire,
} from '@pharos/contract/shield-hold'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type Answer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { actorName, type StaffOperation } from '../../operation/operation.ts'
import { fail, notFound } from '../../runtime/error.ts'
import {
  decideShieldHold,
  findShieldHold,
  listShieldHoldRows,
  type ShieldHoldRow,
} from './shield-hold.store.ts'

export type ShieldHoldDeps = { readonly db: Db }

/** Returns a page of all holds of shield, and the exact count. */
export async function listShieldHolds(
  { db }: ShieldHoldDeps,
  _operation: unknown,
  query: QueryOf<typeof listShieldHoldsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listShieldHoldRows(db, query)
  return { results: page.map(present), count }
}

export async function getShieldHold({ db }: ShieldHoldDeps, _operation: unknown, id: number): Promise<Wire> {
  const hold = await findShieldHold(db, id)
  if (!hold) throw notFound('hold')
  return present(hold)
}

/** Approves an open hold for the caller of an operation. */
export const approveShieldHold = (
  { db }: ShieldHoldDeps,
  operation: StaffOperation,
  id: number,
): Promise<Answer<Wire>> => runOwnerChange(db, operation, (trx) => decide(trx, operation, id, 'approved'))

/** Rejects an open hold for the caller of an operation. */
export const rejectShieldHold = (
  { db }: ShieldHoldDeps,
  operation: StaffOperation,
  id: number,
): Promise<Answer<Wire>> => runOwnerChange(db, operation, (trx) => decide(trx, operation, id, 'rejected'))

/**
 * Repeating the same decision changes nothing. Throws `conflict` if the hold was decided otherwise or was closed because the plan has
 * changed, and for the approval of a plan that is not that of the list.
 */
async function decide(
  trx: Trx,
  operation: StaffOperation,
  id: number,
  decision: 'approved' | 'rejected',
): Promise<{ body: Wire; before: Wire }> {
  const before = await findShieldHold(trx, id)
  if (!before) throw notFound('hold')
  if (before.reason === 'plan_differs' && decision === 'approved') throw fail('conflict', 'shieldPlanDiffers')
  const isDecided = await decideShieldHold(trx, id, decision, actorName(operation.actor))
  const hold = (await findShieldHold(trx, id))!
  if (!isDecided && hold.state === 'closed') throw fail('conflict', 'holdClosed')
  if (!isDecided && hold.state !== decision) throw fail('conflict', 'holdDecided', { state: hold.state })
  const body = present(hold)
  if (isDecided) {
    const { scrubber, prefix, reason, state, prefixes } = body
    const after = { scrubber, prefix, reason, state, prefixes }
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId: null,
      action: 'hold.decide',
      target: `shield-hold:${id}`,
      after,
    })
    await wake(trx, 'shield')
  }
  return { body, before: present(before) }
}

function present({ team_id, team_name, attrs, prefix, ...hold }: ShieldHoldRow): Wire {
  return {
    ...hold,
    prefix: prefix === null ? null : parsePrefix(prefix),
    team: team_id === null ? null : { id: team_id, name: team_name ?? '' },
    detail: shieldHoldDetail(hold.reason, attrs),
    prefixes: Array.isArray(attrs['prefixes'])
      ? attrs['prefixes'].map((one) => parsePrefix(String(one)))
      : [],
    created: hold.created.toISOString(),
    decided: hold.decided?.toISOString() ?? null,
  }
}
