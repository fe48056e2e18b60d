// Holds: withdrawals that await approval. The reconciler opens and closes them, staff decide about them. A decision covers
// exactly the prefixes that the hold names, so a hold never changes; it is closed and replaced by another.
import {
  holdDetail,
  holdItemsMax,
  type Hold as Wire,
  type HoldDetails,
  type HoldItem,
  type listHoldsRoute,
} from '@pharos/contract/hold'
import type { QueryOf } from '@pharos/contract/route'
import { holdMessageItemsMax, type MessageData } from '@pharos/contract/webhook-message'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { holdDecisions, type HoldDeps } from '../../hold/decide-hold.ts'
import { notFound } from '../../runtime/error.ts'
import { requireRegions } from '../announcement/region.ts'
import { listAllSlugs } from '../announcement/region.store.ts'
import { heldChangeKey, type PlannedHold } from './guard.ts'
import {
  closeHoldRow,
  countHoldTeams,
  decideHold,
  findHold,
  insertHold,
  listHoldItems,
  listHoldRows,
  type HoldItemRow,
  type HoldRow,
} from './hold.store.ts'
import type { KeptRoute, OpenHold } from './region-lock.store.ts'

/**
 * Decides about the region's open hold. It is kept while it covers everything planned for the same reason, so that repeats
 * join it. Anything new opens another hold in its place, since staff must not approve what they have not seen.
 */
export function holdChange(
  open: OpenHold | null,
  planned: PlannedHold | undefined,
): 'keep' | 'close' | 'open' {
  if (!planned) return open ? 'close' : 'keep'
  const covered =
    open?.reason === planned.findings[0]?.reason &&
    planned.withdrawals.every((prefix) => open?.withdrawals.has(prefix)) &&
    planned.changes.every((change) => open?.changes.has(heldChangeKey(change)))
  return covered ? 'keep' : 'open'
}

/**
 * Opens a hold and closes the region's open one. The mail to staff becomes due with the transaction, and the messages to
 * the operator's webhook are part of it. `unexplained`: its routes without a row, as stored on the routers.
 */
export async function openHold(
  db: Db,
  regionId: number,
  planned: PlannedHold,
  unexplained: readonly KeptRoute[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const replacedId = await closeIn(trx, regionId)
    const id = await insertHold(trx, regionId, planned, unexplained, replacedId)
    await addHoldMessage(trx, 'hold.opened', id)
    await wake(trx, 'hold-alerts')
  })
}

/** Closes the region's open hold, since none of it is planned any longer. */
export async function closeHold(db: Db, regionId: number): Promise<void> {
  await db.transaction().execute((trx) => closeIn(trx, regionId))
}

async function closeIn(trx: Trx, regionId: number): Promise<number | undefined> {
  const id = await closeHoldRow(trx, regionId)
  if (id !== undefined) await addHoldMessage(trx, 'hold.decided', id)
  return id
}

type HoldMessageType = 'hold.opened' | 'hold.reminder' | 'hold.decided'

export async function addHoldMessage(trx: Trx, type: HoldMessageType, id: number): Promise<void> {
  await writeMessages(trx, [{ teamId: null, type, data: await describeHold(trx, id) }])
}

/** Returns the content of mails and messages about a hold. Throws `not_found`. */
export async function describeHold(db: Db | Trx, id: number): Promise<MessageData<HoldMessageType>> {
  const row = await findHold(db, id)
  if (!row) throw notFound('hold')
  const items = await listHoldItems(db, id, holdMessageItemsMax)
  const teams = await countHoldTeams(db, id)
  const { withdrawals, changes, ...hold } = present(row)
  return {
    ...hold,
    withdrawal_count: withdrawals.length,
    change_count: changes.length,
    teams: teams.map(({ withdrawals, ...team }) => ({ team: teamOf(team), withdrawal_count: withdrawals })),
    withdrawals: items.map(presentItem),
  }
}

/** Returns a page of all regions' holds, and the exact count. */
export async function listHolds(
  { db }: HoldDeps,
  _operation: unknown,
  query: QueryOf<typeof listHoldsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  if (query.region) requireRegions(query.region, await listAllSlugs(db))
  const { page, count } = await listHoldRows(db, query)
  return { results: page.map(present), count }
}

export async function getHold({ db }: HoldDeps, _operation: unknown, id: number): Promise<HoldDetails> {
  const hold = await findHold(db, id)
  if (!hold) throw notFound('hold')
  const items = await listHoldItems(db, id, holdItemsMax)
  const changes = await listHoldItems(db, id, holdItemsMax, 'changes')
  const changed = new Set(hold.changes.map(({ prefix }) => prefix)).size
  return {
    ...present(hold),
    items: items.map(presentItem),
    items_truncated: hold.withdrawals.length > items.length,
    change_items: changes.map(presentItem),
    change_items_truncated: changed > changes.length,
  }
}

export const {
  approve: approveHold,
  reject: rejectHold,
  decideAs,
} = holdDecisions<HoldRow, Wire>({
  target: 'hold',
  wakes: 'holds',
  find: findHold,
  save: decideHold,
  present,
  audited: ({ region, state, withdrawals, changes }) => ({ region, state, withdrawals, changes }),
  onDecided: (trx, id) => addHoldMessage(trx, 'hold.decided', id),
})

function present({ findings, changes, ...hold }: HoldRow): Wire {
  return {
    ...hold,
    detail: holdDetail(findings),
    changes: changes.map(({ router, prefix, from, to }) => ({ router, cidr: prefix, from, to })),
    created: hold.created.toISOString(),
    decided: hold.decided?.toISOString() ?? null,
  }
}

function presentItem({ team_id, team_name, requested_at, ...item }: HoldItemRow): HoldItem {
  return {
    ...item,
    team: teamOf({ team_id, team_name }),
    requested_at: requested_at?.toISOString() ?? null,
  }
}

const teamOf = ({ team_id, team_name }: Pick<HoldItemRow, 'team_id' | 'team_name'>): HoldItem['team'] =>
  team_id === null ? null : { id: team_id, name: team_name ?? '' }
