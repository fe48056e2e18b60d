// Decisions of staff about holds of shield. The loops open and close them; a decision covers exactly what the hold is about.
import {
  shieldHoldDetail,
  type listShieldHoldsRoute,
  type ShieldHold as Wire,
} from '@pharos/contract/shield-hold'
import type { QueryOf } from '@pharos/contract/route'
import { holdMessageItemsMax } from '@pharos/contract/webhook-message'
import type { Trx } from '../../db/postgres.ts'
import { holdDecisions, type HoldDeps } from '../../hold/decide-hold.ts'
import type { DescribedHold } from '../../hold/hold-alerts.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { fail } from '../../runtime/error.ts'
import {
  decideShieldHold,
  findShieldHold,
  listShieldHoldRows,
  type ShieldHoldRow,
} from './shield-hold.store.ts'

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
  get: getShieldHold,
  approve: approveShieldHold,
  reject: rejectShieldHold,
  decideAs: decideShieldHoldAs,
} = shieldHolds

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
