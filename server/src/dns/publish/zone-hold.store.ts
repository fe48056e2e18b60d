// The SQL of deciding about holds of DNS. They belong to the provider: only staff use them, as the owner of the tables.
import { sql } from 'kysely'
import type { listZoneHoldsRoute, ZoneHoldKind, ZoneHoldReason } from '@pharos/contract/zone-hold'
import type { HoldState } from '@pharos/contract/hold'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { ZoneName } from '../../net/dns/name.ts'

const zoneOf = sql`from dns_zones z where z.id = h.zone_id`

const holdColumns = columns('dns_holds', 'h', ['id', 'zone_id', 'created', 'decided', 'decided_by'], {
  kind: sql<ZoneHoldKind>`h.kind`,
  reason: sql<ZoneHoldReason>`h.reason`,
  state: sql<HoldState>`h.state`,
  evidence: sql<string>`h.evidence`,
  /** A publication has sets, the others have names. */
  removals: sql<(string | { readonly name: string; readonly type: number })[]>`h.attrs -> 'sets'`,
  removal_count: sql<number>`(h.attrs ->> 'count')::integer`,
  zone: sql<ZoneName | null>`(select z.name ${zoneOf})`,
  team_id: sql<number | null>`(select z.team_id ${zoneOf})`,
  team_name: sql<string | null>`(select t.name from teams t where t.id = (select z.team_id ${zoneOf}))`,
})
export type ZoneHoldRow = RowOf<typeof holdColumns>

export async function findZoneHold(db: Db | Trx, id: number): Promise<ZoneHoldRow | undefined> {
  const { rows } = await sql<ZoneHoldRow>`
    select ${holdColumns} from dns_holds h where h.id = ${id}::bigint`.execute(db)
  return rows[0]
}

export const listZoneHoldRows = (
  db: Db,
  query: QueryOf<typeof listZoneHoldsRoute>,
): Promise<Page<ZoneHoldRow>> =>
  listAll(db, {
    matching: sql`select h.* from dns_holds h where true ${andAll(
      query.kind && sql`h.kind = any(${query.kind}::text[])`,
      query.state && sql`h.state = any(${query.state}::text[])`,
    )}`,
    columns: holdColumns,
    order: orderBy(query.ordering, { id: sql`h.id`, created: sql`h.created` }, sql`h.id`),
    slice: query,
  })

/** Decides an open hold; returns false if it is not open. A held transfer is repeated at once. */
export async function decideZoneHold(
  trx: Trx,
  id: number,
  state: 'approved' | 'rejected',
  actor: string,
): Promise<boolean> {
  const { rows } = await sql<{ zone_id: number | null }>`
    update dns_holds set state = ${state}, decided = now(), decided_by = ${actor}
    where id = ${id}::bigint and state = 'open' returning zone_id`.execute(trx)
  const [hold] = rows
  if (!hold) return false
  await sql`update dns_secondaries set due = now() where zone_id = ${hold.zone_id}`.execute(trx)
  return true
}
