// The SQL of holds. They belong to regions, not to teams: only the reconciler and staff come here, as the owner.
import type { HoldFinding, HoldReason, HoldState } from '@pharos/contract/hold'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { HeldChange, PlannedHold } from './guard.ts'
import type { KeptRoute } from './region-lock.store.ts'

export type HoldRow = {
  readonly id: number
  readonly region: string
  readonly reason: HoldReason
  readonly findings: readonly HoldFinding[]
  readonly withdrawals: string[]
  readonly changes: readonly HeldChange[]
  readonly state: HoldState
  readonly created: Date
  readonly decided: Date | null
  readonly decided_by: number | null
}

export type HoldOrderingKey = 'id' | 'created'

const columns = sql`h.id, r.slug as region, h.reason, h.findings,
  h.withdrawals::text[] as withdrawals, h.changes, h.state, h.created,
  h.decided, h.decided_by`

export async function findHold(db: Db | Trx, id: number): Promise<HoldRow | undefined> {
  const { rows } = await sql<HoldRow>`
    select ${columns} from holds h join regions r on r.id = h.region_id where h.id = ${id}::bigint`.execute(
    db,
  )
  return rows[0]
}

type HoldFilter = {
  readonly region?: readonly string[]
  readonly state?: readonly HoldState[]
  readonly limit: number
  readonly offset: number
}

const orderings: Record<HoldOrderingKey, RawBuilder<unknown>> = { id: sql`h.id`, created: sql`h.created` }

type Order = readonly { readonly key: HoldOrderingKey; readonly descending: boolean }[]

/** A page and the count of all that match, from one snapshot: one statement. */
export async function listHoldRows(
  db: Db,
  { region, state, limit, offset }: HoldFilter,
  order: Order,
): Promise<{ page: HoldRow[]; count: number }> {
  const keys = order.map(({ key, descending }) => (descending ? sql`${orderings[key]} desc` : orderings[key]))
  const ofRegions = region ? sql`and r.slug = any(${region}::text[])` : sql``
  const inStates = state ? sql`and h.state = any(${state}::text[])` : sql``
  const { rows } = await sql<{ id: null; count: number } | (HoldRow & { count: number })>`
    with matching as (
      select ${columns} from holds h join regions r on r.id = h.region_id where true ${ofRegions} ${inStates}),
    page as (
      select row_number() over () as place, p.* from (
        select * from matching h order by ${sql.join([...keys, sql`h.id`])} limit ${limit} offset ${offset}) p)
    select c.count, page.* from (select count(*) from matching) c left join page on true
    order by page.place`.execute(db)
  return { page: rows.filter((row) => row.id !== null).map(holdOf), count: rows[0]!.count }
}

/** Without the columns that belong to the page. */
function holdOf({
  id,
  region,
  reason,
  findings,
  withdrawals,
  changes,
  state,
  created,
  decided,
  decided_by,
}: HoldRow): HoldRow {
  return { id, region, reason, findings, withdrawals, changes, state, created, decided, decided_by }
}

/** Decides an open hold; false when it is not open, or there is none. */
export async function decideHold(
  trx: Trx,
  id: number,
  state: 'approved' | 'rejected',
  userId: number | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update holds set state = ${state}, decided = now(), decided_by = ${userId}
    where id = ${id}::bigint and state = 'open'`.execute(trx)
  return numAffectedRows === 1n
}

/** Closes the region's open hold, if there is one; what was decided stays decided. */
export async function closeHold(db: Db | Trx, regionId: number): Promise<void> {
  await sql`update holds set state = 'closed', decided = now() where region_id = ${regionId} and state = 'open'`.execute(
    db,
  )
}

/** Opens a hold in the place of the one that is open. `unexplained`: its routes without a row, as the routers hold them. */
export async function openHold(
  db: Db,
  regionId: number,
  { findings, withdrawals, changes }: PlannedHold,
  unexplained: readonly KeptRoute[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await closeHold(trx, regionId)
    await sql`
      insert into holds (region_id, reason, findings, withdrawals, changes, routes)
      values (${regionId}, ${findings[0]!.reason}, ${JSON.stringify(findings)}, ${withdrawals}::cidr[],
        ${JSON.stringify(changes)}, ${JSON.stringify(unexplained)})`.execute(trx)
  })
}
