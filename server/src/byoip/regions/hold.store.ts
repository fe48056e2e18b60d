// The SQL of holds. They belong to regions, not to teams: only the reconciler and staff use them, as the owner.
import type { HoldFinding, HoldReason, listHoldsRoute } from '@pharos/contract/hold'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { actorNameOf } from '../../db/actor-name.ts'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { isAboutDesired, newestFirst } from './desired.store.ts'
import type { HeldChange, PlannedHold } from './guard.ts'
import type { KeptRoute } from './region-lock.store.ts'

const holdColumns = columns('holds', 'h', ['id', 'state', 'created', 'decided', 'decided_by'], {
  region: sql<string>`(select r.slug from regions r where r.id = h.region_id)`,
  reason: sql<HoldReason>`h.reason`,
  findings: sql<HoldFinding[]>`h.findings`,
  withdrawals: sql<string[]>`h.withdrawals::text[]`,
  changes: sql<HeldChange[]>`h.changes`,
})
export type HoldRow = RowOf<typeof holdColumns>

export async function findHold(db: Db | Trx, id: number): Promise<HoldRow | undefined> {
  const { rows } = await sql<HoldRow>`select ${holdColumns} from holds h where h.id = ${id}::bigint`.execute(
    db,
  )
  return rows[0]
}

export const listHoldRows = (db: Db, query: QueryOf<typeof listHoldsRoute>): Promise<Page<HoldRow>> =>
  listAll(db, {
    matching: sql`
      select h.* from holds h join regions r on r.id = h.region_id where true ${andAll(
        query.region && sql`r.slug = any(${query.region}::text[])`,
        query.state && sql`h.state = any(${query.state}::text[])`,
      )}`,
    columns: holdColumns,
    order: orderBy(query.ordering, { id: sql`h.id`, created: sql`h.created` }, sql`h.id`),
    slice: query,
  })

/** Decides an open hold; returns false if it is not open or does not exist. */
export async function decideHold(
  trx: Trx,
  id: number,
  state: 'approved' | 'rejected',
  actor: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update holds set state = ${state}, decided = now(), decided_by = ${actor}
    where id = ${id}::bigint and state = 'open'`.execute(trx)
  return numAffectedRows === 1n
}

/** Closes the region's open hold, if any, and returns its id. Decided holds do not change. */
export async function closeHoldRow(trx: Trx, regionId: number): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    update holds set state = 'closed', decided = now() where region_id = ${regionId} and state = 'open'
    returning id`.execute(trx)
  return rows[0]?.id
}

/**
 * Inserts an open hold and returns its id. `unexplained`: its routes without a row, as stored on the routers. Staff get a
 * mail about it immediately, unless it replaces a hold about which they got one within the hour and has fewer than twice
 * as many prefixes as that mail named: then the reminder of the replaced hold stays due.
 */
export async function insertHold(
  trx: Trx,
  regionId: number,
  { findings, withdrawals, changes }: PlannedHold,
  unexplained: readonly KeptRoute[],
  replacedId: number | undefined,
): Promise<number> {
  const prefixes = new Set([...withdrawals, ...changes.map(({ prefix }) => prefix)]).size
  const { rows } = await sql<{ id: number }>`
    insert into holds (region_id, reason, findings, withdrawals, changes, routes, alerted, alerted_prefixes, alert_due)
    select ${regionId}, ${findings[0]!.reason}, ${JSON.stringify(findings)}, ${withdrawals}::cidr[],
      ${JSON.stringify(changes)}, ${JSON.stringify(unexplained)}, o.alerted, o.alerted_prefixes, coalesce(o.alert_due, now())
    from (select) as one left join holds o on o.id = ${replacedId ?? null}::bigint
      and o.alerted > now() - interval '1 hour' and ${prefixes} < 2 * o.alerted_prefixes
    returning id`.execute(trx)
  return rows[0]!.id
}

/** A withdrawal of a hold, with the announcement that decides about its prefix and the last request about it. */
export type HoldItemRow = {
  readonly cidr: string
  readonly team_id: number | null
  readonly team_name: string | null
  readonly announcement_id: number | null
  readonly action: string | null
  readonly requested_by: string | null
  readonly requested_by_name: string | null
  readonly requested_by_staff: boolean | null
  readonly requested_at: Date | null
}

/** The announcement `a` of each withdrawal `w` of the hold `h`: the one that is not deleted, otherwise the newest. */
const deciding = sql`
  left join lateral (
    select a.id, a.team_id from announcements a
      join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = h.region_id
    where a.prefix = w.cidr and a.claimed is not null
    order by a.deleted desc nulls first, a.id desc limit 1) a on true
  left join teams t on t.id = a.team_id`

/** The prefixes of a hold `h` with their places. */
const prefixesOf = {
  withdrawals: sql`select * from unnest(h.withdrawals) with ordinality w (cidr, place)`,
  // A prefix may change on several routers.
  changes: sql`
    select (c ->> 'prefix')::cidr as cidr, min(place) as place
    from jsonb_array_elements(h.changes) with ordinality j (c, place) group by 1`,
}

/** Returns the withdrawals of the hold, or the prefixes of its changes, in its order. */
export async function listHoldItems(
  db: Db | Trx,
  id: number,
  limit: number,
  part: keyof typeof prefixesOf = 'withdrawals',
): Promise<HoldItemRow[]> {
  const { rows } = await sql<HoldItemRow>`
    select w.cidr::text, t.id as team_id, t.name as team_name, a.id as announcement_id, e.action,
      e.actor as requested_by, e.at as requested_at,
      ${actorNameOf(sql`e.actor`)}
        as requested_by_name,
      e.by_staff or e.actor = 'operator' as requested_by_staff
    from holds h cross join lateral (
      select * from (${prefixesOf[part]}) p order by place limit ${limit}) w
    ${deciding}
    left join lateral (
      select e.actor, e.at, e.action, e.by_staff from audit_entries e, regions g
      where g.id = h.region_id and ${isAboutDesired(sql`g.slug`)}
      order by ${newestFirst} limit 1) e on true
    where h.id = ${id}::bigint order by w.place`.execute(db)
  return rows
}

export type HoldTeamRow = {
  readonly team_id: number | null
  readonly team_name: string | null
  readonly withdrawals: number
}

/** Counts the hold's withdrawals per team, highest first. */
export async function countHoldTeams(db: Db | Trx, id: number): Promise<HoldTeamRow[]> {
  const { rows } = await sql<HoldTeamRow>`
    select t.id as team_id, t.name as team_name, count(*)::integer as withdrawals
    from holds h cross join lateral unnest(h.withdrawals) w (cidr) ${deciding}
    where h.id = ${id}::bigint group by t.id, t.name order by count(*) desc, t.name`.execute(db)
  return rows
}

/** Locks and returns an open hold with a due mail to staff; undefined if none is due. */
export async function lockDueAlert(trx: Trx): Promise<{ id: number; isReminder: boolean } | undefined> {
  const { rows } = await sql<{ id: number; isReminder: boolean }>`
    select id, alerted is not null as "isReminder" from holds where state = 'open' and alert_due <= now()
    order by alert_due limit 1 for update skip locked`.execute(trx)
  return rows[0]
}

export async function saveAlerted(trx: Trx, id: number, nextMinutes: number): Promise<void> {
  await sql`
    update holds set alerted = now(), alerted_prefixes = (select count(*) from (
        select unnest(withdrawals) union select (c ->> 'prefix')::cidr from jsonb_array_elements(changes) c) p),
      alert_due = now() + make_interval(mins => ${nextMinutes})
    where id = ${id}::bigint`.execute(trx)
}
