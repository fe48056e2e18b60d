// The SQL of deciding about holds of shield. They belong to the provider: only staff use them, as the owner of the tables.
import { sql } from 'kysely'
import type { HoldState } from '@pharos/contract/hold'
import type { listShieldHoldsRoute, ShieldHoldReason } from '@pharos/contract/shield-hold'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'

const holdColumns = columns(
  'shield_holds',
  'h',
  ['id', 'scrubber', 'list_id', 'team_id', 'created', 'decided', 'decided_by'],
  {
    reason: sql<ShieldHoldReason>`h.reason`,
    state: sql<HoldState>`h.state`,
    attrs: sql<Readonly<Record<string, unknown>>>`h.attrs`,
    prefix: sql<string | null>`(select l.prefix::text from shield_lists l where l.id = h.list_id)`,
    team_name: sql<string | null>`(select t.name from teams t where t.id = h.team_id)`,
  },
)
export type ShieldHoldRow = RowOf<typeof holdColumns>

export async function findShieldHold(db: Db | Trx, id: number): Promise<ShieldHoldRow | undefined> {
  const { rows } = await sql<ShieldHoldRow>`
    select ${holdColumns} from shield_holds h where h.id = ${id}::bigint`.execute(db)
  return rows[0]
}

export const listShieldHoldRows = (
  db: Db,
  query: QueryOf<typeof listShieldHoldsRoute>,
): Promise<Page<ShieldHoldRow>> =>
  listAll(db, {
    matching: sql`select h.* from shield_holds h where true ${andAll(
      query.reason && sql`h.reason = any(${query.reason}::text[])`,
      query.state && sql`h.state = any(${query.state}::text[])`,
    )}`,
    columns: holdColumns,
    order: orderBy(query.ordering, { id: sql`h.id`, created: sql`h.created` }, sql`h.id`),
    slice: query,
  })

/** Decides an open hold; returns false if it is not open. */
export async function decideShieldHold(
  trx: Trx,
  id: number,
  state: 'approved' | 'rejected',
  actor: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update shield_holds set state = ${state}, decided = now(), decided_by = ${actor}
    where id = ${id}::bigint and state = 'open'`.execute(trx)
  return numAffectedRows === 1n
}
