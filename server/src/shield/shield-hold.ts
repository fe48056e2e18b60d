// Decisions of staff about holds of shield. The loops open and close them; a decision covers exactly what the hold is about.
import {
  shieldHoldDetail,
  type listShieldHoldsRoute,
  type ShieldHold as Wire,
  type ShieldHoldDetails,
} from '@pharos/contract/shield-hold'
import type { QueryOf } from '@pharos/contract/route'
import { holdMessageItemsMax } from '@pharos/contract/webhook-message'
import type { Trx } from '../db/postgres.ts'
import { holdDecisions, type HoldDeps } from '../hold/decide-hold.ts'
import type { DescribedHold } from '../hold/hold-alerts.ts'
import { parsePrefix } from '../net/prefix.ts'
import { fail } from '../runtime/error.ts'
import { asNewRule } from './present-shield.ts'
import {
  decideShieldHold,
  findShieldHold,
  listShieldHoldRows,
  type ShieldHoldRow,
} from './shield-hold.store.ts'
import { readRules } from './shield-list.store.ts'
import { findStored, isApplied } from './shield-rule.ts'
import type { EstimateWhatIf } from './what-if-port.ts'

/** Returns a page of all holds of shield, and the exact count. */
export async function listShieldHolds(
  { db }: HoldDeps,
  _operation: unknown,
  query: QueryOf<typeof listShieldHoldsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listShieldHoldRows(db, query)
  return { results: page.map(present), count }
}

const shieldHolds = holdDecisions<ShieldHoldRow, Wire>({
  target: 'shield-hold',
  wakes: 'shield',
  find: findShieldHold,
  save: decideShieldHold,
  present,
  audited: (row) => {
    const { scrubber, prefix, reason, state, prefixes } = present(row)
    return { scrubber, prefix, reason, state, prefixes }
  },
  refusal: ({ reason }) => (reason === 'plan_differs' ? fail('conflict', 'shieldPlanDiffers') : undefined),
})

export const {
  approve: approveShieldHold,
  reject: rejectShieldHold,
  decideAs: decideShieldHoldAs,
} = shieldHolds

export type ShieldHoldDeps = HoldDeps & { readonly estimate: EstimateWhatIf; readonly now: () => Date }

const hourMs = 3_600_000

/** Returns a hold with the rules that wait and their effect: nobody should have to approve what they cannot see. */
export async function getShieldHold(
  deps: ShieldHoldDeps,
  operation: unknown,
  id: number,
): Promise<ShieldHoldDetails> {
  const hold = await shieldHolds.get(deps, operation, id)
  const { state, list_id: listId, team, prefix: text } = hold
  if (state !== 'open' || listId === null || team === null || text === null)
    return { ...hold, rules: [], what_if: null }
  const prefix = parsePrefix(text)
  const rows = await deps.db.transaction().execute((trx) => readRules(trx, team.id, listId))
  const endMs = deps.now().getTime()
  const applied = rows.flatMap((row, index) => {
    const parsed = findStored(row, prefix)
    const rule = { ...row, expires: row.expires?.getTime() ?? null }
    return parsed && isApplied(rule, endMs) ? [{ ...rule, parsed, index }] : []
  })
  const request = { teamId: team.id, prefix, rules: applied, startMs: endMs - hourMs, endMs }
  return { ...hold, rules: rows.map(asNewRule), what_if: await deps.estimate(request) }
}

/** Returns what mails and messages say about a hold. */
export async function describeShieldHold(trx: Trx, id: number): Promise<DescribedHold> {
  const { scrubber, list_id: _list, prefix, prefixes, ...hold } = present((await findShieldHold(trx, id))!)
  const items = prefixes.slice(0, holdMessageItemsMax)
  return { ...hold, subject: prefix ?? scrubber ?? '', items, item_count: prefixes.length }
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
