// The SQL of black holes in the reconciler: their rows of a region, and their observations. As the owner of the tables.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import type { Prefix } from '../../net/prefix.ts'
import { isDesiredRow } from './desired.store.ts'
import { blackholeSettled, blackholeTookMs } from './settled.store.ts'
import type { ObservedRow } from './observe.ts'
import type { PlanRow } from './plan.ts'

/** Rows of the past explain the withdrawal of a route that an unreadable router kept. */
const keptDays = 30

/**
 * The announcement `a` that a black hole `b` needs in the region of `br`: of the same team, which is the closest holder
 * of the host, and announced there. No row after its end: the time counts even if no loop has ended it.
 */
export const coveringAnnouncement = sql`
  select a.origin_asn, a.checked_origin
  from announcements a join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = br.region_id
  where b.ended is null and b.expires > now() and a.team_id = b.team_id and a.prefix >>= b.host and ${isDesiredRow}
    and shield_holds(b.team_id, b.host)
  order by masklen(a.prefix) desc limit 1`

/** Returns the black holes of the region that decide about their hosts, of all teams: one row for each host. */
export async function readBlackholeRows(db: Db, regionId: number): Promise<PlanRow[]> {
  const { rows } = await sql<PlanRow>`
    select distinct on (m.prefix) m.*
    from (
      select null as "announcementId", b.id as "blackholeId", b.team_id as "teamId", br.region_id as "regionId", b.host as prefix,
        coalesce(c.origin_asn, 0) as "originAsn", c.checked_origin as "checkedOrigin", c.origin_asn is not null as desired,
        false as requested, br.state, br.reason, br.attrs, null as "announcedOrigin", null as "changedMs", null as "changedEntry", null as "limitMs",
        (extract(epoch from b.expires) * 1000)::float8 as "expiresMs"
      from blackhole_regions br join blackholes b on b.id = br.blackhole_id left join lateral (${coveringAnnouncement}) c on true
      where br.region_id = ${regionId}
        and (b.ended is null or br.state <> 'withdrawn' or b.ended > now() - make_interval(days => ${sql.lit(keptDays)}))) m
    order by m.prefix, m.desired desc, m."blackholeId" desc`.execute(db)
  return rows
}

/** Whether a black hole of the region was requested or has ended, and no run has handled it since. */
export const isMoving = ({ desired, state, reason }: PlanRow): boolean =>
  reason === null && state !== (desired ? 'announced' : 'withdrawn')

/** Whether a black hole of the region should be announced for prefix `n`. */
export const isBlackholed = (regionId: number) => sql`exists (
  select from blackholes b join blackhole_regions br on br.blackhole_id = b.id and br.region_id = ${regionId}
  where b.host = n.prefix::cidr and exists (${coveringAnnouncement}))`

/** Whether a black hole of the region explains prefix `n`. */
export const hasBlackhole = (regionId: number) => sql`exists (
  select from blackholes b join blackhole_regions br on br.blackhole_id = b.id and br.region_id = ${regionId}
  where b.host = n.prefix::cidr)`

/** Black holes of these hosts stay locked until the end of the transaction. */
export async function lockBlackholes(trx: Trx, hosts: readonly Prefix[]): Promise<void> {
  await sql`select id from blackholes where host = any(${hosts}::cidr[]) order by id for share`.execute(trx)
}

/**
 * Saves the observations of black holes; returns the milliseconds of the changes that have reached the routers. A black
 * hole that ended in the meantime is not updated. A black hole of a former holder of the host is withdrawn if the new
 * holder has one.
 */
export async function saveBlackholes(
  trx: Trx,
  regionId: number,
  rows: readonly ObservedRow[],
): Promise<number[]> {
  const ids = rows.map(({ blackholeId }) => blackholeId!)
  const { rows: saved } = await sql<{ tookMs: number | null }>`
    update blackhole_regions br
    set state = n.state, reason = n.reason, attrs = n.attrs::jsonb,
      since = case when br.state = n.state then br.since else now() end, settled = ${blackholeSettled}
    from unnest(${ids}::integer[], ${rows.map((row) => row.desired)}::boolean[], ${rows.map((row) => row.state)}::text[],
        ${rows.map((row) => row.reason)}::text[], ${rows.map(({ attrs }) => attrs && storedJson(attrs))}::text[])
        n (id, desired, state, reason, attrs),
      blackholes b
    where br.region_id = ${regionId} and br.blackhole_id = n.id and b.id = n.id and (b.ended is null or not n.desired)
    returning ${blackholeTookMs} as "tookMs"`.execute(trx)
  await sql`
    update blackhole_regions br set state = 'withdrawn', reason = null, attrs = null, since = now()
    from blackholes b
    where br.region_id = ${regionId} and b.id = br.blackhole_id and br.state <> 'withdrawn'
      and exists (select from blackholes o join blackhole_regions r on r.blackhole_id = o.id and r.region_id = br.region_id
        where o.host = b.host and o.id > b.id and o.ended is null)`.execute(trx)
  return saved.flatMap(({ tookMs }) => tookMs ?? [])
}
