// The SQL of approvals about routes: the teams of their routes, and the authors of the changes. As the owner, of all
// teams.
import type { ApprovalItem } from '@pharos/contract/operator/approval'
import { sql } from 'kysely'
import { actorNameOf } from '../../db/actor-name.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { StoredItem } from '../../approval/coverage.ts'
import { isAboutDesired, newestFirst } from './desired.store.ts'

/** The announcement `a` of each item `i` of the approval `p`: the active one, otherwise the newest. */
const deciding = sql`
  left join lateral (
    select a.id, a.team_id from announcements a
      join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = p.region_id
    where a.prefix = (i.item ->> 'value')::cidr and a.claimed is not null
    order by a.deleted desc nulls first, a.id desc limit 1) a on true
  left join teams t on t.id = a.team_id`

type ItemRow = {
  readonly approval: number
  readonly item: StoredItem
  readonly team_id: number | null
  readonly team_name: string | null
  readonly announcement_id: number | null
  readonly action: string | null
  readonly by: string | null
  readonly by_name: string | null
  readonly by_staff: boolean
  readonly at: Date | null
}

/** Returns the first items of each approval, in its order, with their teams and the last request about each. */
export async function listRouteItems(
  db: Db | Trx,
  ids: readonly number[],
  limit: number,
): Promise<ReadonlyMap<number, ApprovalItem[]>> {
  const { rows } = await sql<ItemRow>`
    select p.id as approval, i.item, t.id as team_id, t.name as team_name, a.id as announcement_id, e.action, e.actor as by,
      ${actorNameOf(sql`e.actor`)} as by_name, coalesce(e.by_staff or e.actor = 'operator', false) as by_staff, e.at
    from approvals p cross join lateral (
      select * from jsonb_array_elements(p.items) with ordinality i (item, place) order by place limit ${limit}) i
    ${deciding}
    left join lateral (
      select e.actor, e.at, e.action, e.by_staff from audit_entries e, regions g
      where g.id = p.region_id and ${isAboutDesired(sql`g.slug`)}
      order by ${newestFirst} limit 1) e on true
    where p.id = any(${ids as number[]}::integer[]) order by p.id, i.place`.execute(db)
  const groups = Map.groupBy(rows, ({ approval }) => approval)
  return new Map(Array.from(groups, ([id, own]) => [id, own.map(itemOf)]))
}

function itemOf(row: ItemRow): ApprovalItem {
  const { router = null, from = null, to = null, change, value } = row.item
  const { team_id, team_name, announcement_id, action, by, by_name, by_staff, at } = row
  const isRequested = action !== null && by !== null && at !== null
  const requested = isRequested ? { action, by, by_name, by_staff, at: at.toISOString() } : null
  const team = team_id === null ? null : { id: team_id, name: team_name ?? '' }
  return { change, value, router, from, to, team, announcement_id, requested }
}

/** Counts the withdrawals of each team, most first; null: no announcement explains the route. */
export async function countTeams(db: Db | Trx, id: number) {
  const { rows } = await sql<{ team_id: number | null; team_name: string | null; withdrawal_count: number }>`
    select t.id as team_id, t.name as team_name, count(*)::integer as withdrawal_count
    from approvals p cross join lateral jsonb_array_elements(p.items) i (item) ${deciding}
    where p.id = ${id} and i.item ->> 'change' = 'withdraw'
    group by t.id, t.name order by count(*) desc, t.name`.execute(db)
  return rows.map(({ team_id, team_name, withdrawal_count }) => ({
    team: team_id === null ? null : { id: team_id, name: team_name ?? '' },
    withdrawal_count,
  }))
}
