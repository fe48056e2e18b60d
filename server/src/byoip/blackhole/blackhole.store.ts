// The SQL of black holes for their team. Every statement names the team.
import type { listBlackholesRoute } from '@pharos/contract/shield/blackhole'
import type { RegionState } from '@pharos/contract/byoip/announcement'
import type { ReasonAttrs, RegionReason } from '@pharos/contract/reason/region-reason'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { coveringAnnouncement } from '../regions/blackhole.store.ts'
import { isDesiredRow } from '../regions/desired.store.ts'

export type BlackholeRegionRow = {
  readonly region: string
  readonly desired: boolean
  readonly state: RegionState
  readonly since: string
  readonly reason: RegionReason | null
  readonly attrs: ReasonAttrs | null
}

const blackholeColumns = columns(
  'blackholes',
  'b',
  ['id', 'event_id', 'comment', 'forced', 'created', 'expires', 'ended'],
  {
    host: sql<string>`b.host::text`,
    regions: sql<readonly BlackholeRegionRow[]>`(
      select coalesce(json_agg(json_build_object('region', r.slug, 'desired', exists (${coveringAnnouncement}), 'state', br.state,
        'since', br.since, 'reason', br.reason, 'attrs', br.attrs) order by r.slug collate "C"), '[]')
      from blackhole_regions br join regions r on r.id = br.region_id where br.blackhole_id = b.id)`,
  },
)
export type BlackholeRow = RowOf<typeof blackholeColumns>

/** The black hole has not ended, or a router still has it. */
const isOngoing = sql`(b.ended is null and b.expires > now() or exists (
  select from blackhole_regions br where br.blackhole_id = b.id and br.state <> 'withdrawn'))`

export const listBlackholeRows = (
  postgres: Postgres,
  teamId: number,
  { event_id: events, ongoing, ordering, host: _host, ...slice }: QueryOf<typeof listBlackholesRoute>,
  within: readonly Prefix[] | undefined,
): Promise<Page<BlackholeRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select b.* from blackholes b where b.team_id = ${teamId} ${andAll(
        within && sql`b.host <<= any(${within}::cidr[])`,
        events && sql`b.event_id = any(${events}::text[])`,
        ongoing !== undefined && sql`${isOngoing} = ${ongoing}`,
      )}`,
    columns: blackholeColumns,
    order: orderBy(
      ordering,
      { id: sql`b.id`, host: sql`b.host`, created: sql`b.created`, expires: sql`b.expires` },
      sql`b.id`,
    ),
    slice,
  })

export async function findBlackhole(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<BlackholeRow | undefined> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<BlackholeRow>`select ${blackholeColumns} from blackholes b where b.team_id = ${teamId} and b.id = ${id}::bigint`,
  )
  return rows[0]
}

export async function lockBlackhole(trx: Trx, teamId: number, id: number): Promise<BlackholeRow | undefined> {
  const { rows } = await sql<BlackholeRow>`
    select ${blackholeColumns} from blackholes b where b.team_id = ${teamId} and b.id = ${id}::bigint for update of b`.execute(
    trx,
  )
  return rows[0]
}

/** Requests of all teams wait for each other: the limit of a region counts every team. */
export async function lockRequests(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('requests of black holes'))`.execute(trx)
}

export type Covering = {
  readonly id: number
  readonly cidr: string
  readonly regions: readonly { readonly id: number; readonly slug: string }[]
}

/**
 * Returns the announcements that cover the host with the regions where they are enabled; an empty list if the team is
 * not its closest holder.
 */
export async function listCovering(trx: Trx, teamId: number, host: Prefix): Promise<Covering[]> {
  const { rows } = await sql<Covering>`
    select a.id, a.prefix::text as cidr,
      json_agg(json_build_object('id', r.id, 'slug', r.slug) order by r.slug collate "C") as regions
    from announcements a join announcement_regions ar on ar.announcement_id = a.id join regions r on r.id = ar.region_id
    where a.team_id = ${teamId} and a.prefix >>= ${host}::cidr and ${isDesiredRow} and shield_holds(${teamId}, ${host}::cidr)
    group by a.id order by masklen(a.prefix) desc`.execute(trx)
  return rows
}

/** Returns the newest ongoing event that targets exactly this address. */
export async function findAttack(trx: Trx, teamId: number, host: Prefix): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select e.event_id as id from team_events e
    where e.team_id = ${teamId} and e.affected_network = ${host}::cidr and e.end_at is null
    order by e.start_at desc, e.event_id limit 1`.execute(trx)
  return rows[0]?.id
}

/** Whether it is an event of the team, and the host is inside its network. */
export async function isTargetOf(trx: Trx, teamId: number, eventId: string, host: Prefix): Promise<boolean> {
  const { rows } = await sql`
    select from team_events e
    where e.team_id = ${teamId} and e.event_id = ${eventId} and e.affected_network >>= ${host}::cidr`.execute(
    trx,
  )
  return rows.length > 0
}

/** Counts the other hosts of the team that are black-holed. */
export async function countOtherHosts(trx: Trx, teamId: number, host: Prefix): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct b.host) from blackholes b
    where b.team_id = ${teamId} and b.ended is null and b.expires > now() and b.host <> ${host}::cidr`.execute(
    trx,
  )
  return rows[0]!.count
}

/** Counts the hosts of all teams in each region, without this host of the team. */
export async function countInRegions(
  trx: Trx,
  teamId: number,
  host: Prefix,
  regionIds: readonly number[],
): Promise<{ readonly id: number; readonly count: number }[]> {
  const { rows } = await sql<{ id: number; count: number }>`
    select n.id, blackholes_in_region(n.id, ${teamId}, ${host}::cidr) as count from unnest(${regionIds}::integer[]) n (id)`.execute(
    trx,
  )
  return rows
}

export type NewRow = {
  readonly host: Prefix
  readonly eventId: string | null
  readonly comment: string
  readonly forced: boolean
  readonly created: Date
  readonly expires: Date
  readonly regionIds: readonly number[]
}

/** Inserts it. A region in which a router has the host already, by an earlier black hole, has it from the start. */
export async function insertBlackhole(trx: Trx, teamId: number, row: NewRow): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into blackholes (team_id, host, event_id, comment, forced, created, expires)
    values (${teamId}, ${row.host}::cidr, ${row.eventId}, ${row.comment}, ${row.forced}, ${row.created}, ${row.expires})
    returning id`.execute(trx)
  const { id } = rows[0]!
  await sql`
    insert into blackhole_regions (blackhole_id, region_id, team_id, state)
    select ${id}, n.id, ${teamId}, case when exists (
      select from blackholes b join blackhole_regions br on br.blackhole_id = b.id and br.region_id = n.id
      where b.team_id = ${teamId} and b.host = ${row.host}::cidr and br.state = 'announced') then 'announced' else 'announcing' end
    from unnest(${row.regionIds}::integer[]) n (id)`.execute(trx)
  return id
}

/**
 * Ends active black holes of the team now: the routers withdraw them, unless `keeps` contains the region for another
 * black hole of the host.
 */
export async function endTeamBlackholes(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
  keeps: readonly number[] = [],
): Promise<void> {
  await sql`
    update blackholes set ended = least(now(), expires)
    where team_id = ${teamId} and id = any(${ids}::integer[]) and ended is null`.execute(trx)
  await sql`
    update blackhole_regions
    set state = case when region_id = any(${keeps}::integer[]) then 'withdrawn' else 'withdrawing' end, reason = null, attrs = null, since = now()
    where team_id = ${teamId} and blackhole_id = any(${ids}::integer[]) and state <> 'withdrawn'`.execute(trx)
}

/** Returns the black holes of the host that have not ended, locked. */
export async function lockOfHost(trx: Trx, teamId: number, host: Prefix): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from blackholes where team_id = ${teamId} and host = ${host}::cidr and ended is null
    order by id for update`.execute(trx)
  return rows.map(({ id }) => id)
}
