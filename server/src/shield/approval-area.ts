// Approvals about shield rules: lists that a scrubber applies, and rules that it loses. An approval covers exactly its
// evidence, and the scrubbers keep their rules until then.
import type { ApprovalDetails } from '@pharos/contract/operator/approval'
import type { ApprovalArea } from '../approval/area.ts'
import type { PlannedApproval } from '../approval/coverage.ts'
import { listDecisions, planApprovals } from '../approval/plan-approvals.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { parsePrefix } from '../net/prefix.ts'
import { asNewRule } from './present-shield.ts'
import { readRules } from './shield-list.store.ts'
import { findStored, isApplied } from './shield-rule.ts'
import type { EstimateWhatIf } from './what-if-port.ts'

export const shieldApprovals: ApprovalArea<'shield'> = {
  name: 'shield',
  covers: 'exact',
  approvalMinutes: null,
  rejectionHours: null,
  wakes: 'shield',
}

/** Returns the digests of approved and rejected changes. */
export async function listDecidedDigests(
  db: Db | Trx,
): Promise<{ readonly approved: Set<string>; readonly rejected: Set<string> }> {
  const decisions = await listDecisions(db, shieldApprovals)
  const of = (state: string) => new Set([...decisions].flatMap(([key, one]) => (one === state ? [key] : [])))
  return { approved: of('approved'), rejected: of('rejected') }
}

/**
 * Opens the undecided approvals of a scrubber (null: of all), and closes its other open approvals. Returns the ids of
 * new ones.
 */
export const saveApprovals = (
  trx: Trx,
  scrubber: string | null,
  planned: readonly PlannedApproval[],
): Promise<number[]> =>
  planApprovals(
    trx,
    shieldApprovals,
    { scrubber },
    planned.map((one) => ({
      ...one,
      scrubber,
      items: one.items.map((item) => (scrubber === null ? item : { ...item, router: scrubber })),
    })),
  )

export type EffectDeps = {
  readonly db: Db
  readonly estimate: EstimateWhatIf
  readonly now: () => Date
}

const hourMs = 3_600_000

/** Includes the rules that need approval and their effect, so that staff can evaluate them. */
export const shieldApprovalsWithEffect = ({ db, estimate, now }: EffectDeps): ApprovalArea<'shield'> => ({
  ...shieldApprovals,
  async details({ state, list_id, team_id, prefix: text }): Promise<ApprovalDetails['details']> {
    if (state !== 'open' || list_id === null || team_id === null || text === null) return null
    const prefix = parsePrefix(text)
    const rows = await db.transaction().execute((trx) => readRules(trx, team_id, list_id))
    const endMs = now().getTime()
    const rules = rows.flatMap((row, index) => {
      const parsed = findStored(row, prefix)
      const rule = { ...row, expires: row.expires?.getTime() ?? null }
      return parsed && isApplied(rule, endMs) ? [{ ...rule, parsed, index }] : []
    })
    const request = { teamId: team_id, prefix, rules, startMs: endMs - hourMs, endMs }
    return { rules: rows.map(asNewRule), what_if: await estimate(request) }
  },
})
