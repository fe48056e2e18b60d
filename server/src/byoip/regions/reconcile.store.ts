// The SQL of the reconciler: it works for all teams, as the owner of the tables. Each statement handles a whole region,
// never one row in a loop.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { storedJson, storedText } from '../../db/stored-json.ts'
import { writeRows } from '../../db/write-rows.ts'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import { hasBlackhole, isBlackholed, lockBlackholes, saveBlackholes } from './blackhole.store.ts'
import { isDesiredRow } from './desired.store.ts'
import { announcementSettled, announcementTookMs, type OnSettled } from './settled.store.ts'
import type { Reach, ObservedRow } from './observe.ts'
import type { NeighborCheck } from './evidence.ts'
import type { Applied } from './plan.ts'
import type { Neighbor } from './speaker.ts'
import type { RegionLease } from './region-lock.store.ts'
import { notifyCheckedStatuses } from '../status/status-message.store.ts'
import { regionMessages, type RegionChange } from '../status/region-message.ts'
import { saveStatuses } from '../status/status.store.ts'
import { writeMessages } from '../../outbox/outbox.ts'

/** A region as the reconcilers use it. */
export type RegionRecord = {
  readonly id: number
  readonly slug: string
  /** Connection and route settings of its routers, from the platform file. */
  readonly speakers: readonly unknown[]
  readonly quorum: number | null
  readonly communities: readonly string[]
  readonly largeCommunities: readonly string[]
  /** The next hops of black holes; undefined in the plan of a process before it had them. */
  readonly blackholeNextHop?: { readonly ipv4?: string; readonly ipv6?: string }
  /** Routers that it no longer has and that still need to be emptied; undefined in older plans. */
  readonly formers?: readonly FormerRecord[]
}

export type FormerRecord = { readonly id: number; readonly name: string; readonly settings: unknown }

export async function readRegions(db: Db): Promise<RegionRecord[]> {
  const { rows } = await sql<RegionRecord>`
    select id, slug, speakers, quorum, communities, large_communities as "largeCommunities",
      blackhole_next_hop as "blackholeNextHop",
      (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name, 'settings', f.settings) order by f.id), '[]')
        from former_speakers f where f.region_id = regions.id) as formers
    from regions order by id`.execute(db)
  return rows
}

/** Announcements `a`, and their rows `ar` of one region, that decide about the prefix `n`, as in readRegionRows(). */
const deciding = (regionId: number) => sql`
  select from announcements a join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = ${regionId}
  where a.prefix = n.prefix::cidr and a.claimed is not null`

/**
 * Returns the prefixes that may still be withdrawn according to the current rows: no row desires the prefix and, except
 * for the `unexplained`, one row does not. Rows of deleted announcements count only if no other announcement has the
 * prefix now. The announcements stay locked until the end of the transaction, so that enabling one waits until the
 * withdrawal is sent. Two statements, as in lockAnnouncement().
 */
export async function confirmWithdrawals(
  trx: Trx,
  regionId: number,
  prefixes: readonly Prefix[],
  unexplained: readonly Prefix[],
): Promise<Prefix[]> {
  const all = [...prefixes, ...unexplained]
  await sql`select id from announcements where prefix = any(${all}::cidr[]) order by id for share`.execute(
    trx,
  )
  await lockBlackholes(trx, all)
  const { rows } = await sql<{ prefix: Prefix }>`
    select n.prefix
    from (select unnest(${prefixes}::text[]) as prefix, true as explained
      union all select unnest(${unexplained}::text[]), false) n
    where not exists (${deciding(regionId)} and ${isDesiredRow}) and not ${isBlackholed(regionId)}
      and (not n.explained or ${hasBlackhole(regionId)} or exists (${deciding(regionId)} and (a.deleted is null or not exists (
        select from announcements o where o.prefix = a.prefix and o.claimed is not null and o.deleted is null))))`.execute(
    trx,
  )
  return rows.map(({ prefix }) => prefix)
}

/** Returns whether the router is still drained; its row stays locked until the end of the transaction. */
export async function confirmDrained(trx: Trx, regionId: number, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from region_routers where region_id = ${regionId} and name = ${name} and drained is not null
    for share`.execute(trx)
  return rows.length > 0
}

/** Announcements per statement, which takes about 50 ms; a PATCH waits as long. */
const saveBatchSize = 2_000

/**
 * Saves the observed rows, with the statuses that follow from them. A row that was changed in the meantime is not
 * updated: the change has set its direction, and the next run observes it again. `onSettled` gets the changes that have
 * reached the routers, once each.
 */
export async function saveObserved(
  db: Db,
  lease: Pick<RegionLease, 'regionId' | 'fence'>,
  seen: readonly ObservedRow[],
  onSettled: OnSettled = () => {},
): Promise<void> {
  const { announcements = [], blackholes = [] } = Object.groupBy(seen, ({ blackholeId }) =>
    blackholeId === undefined ? 'announcements' : 'blackholes',
  )
  if (blackholes.length > 0)
    onSettled(
      await lease.fence(db, async (trx) => {
        const tookMs = await saveBlackholes(trx, lease.regionId, blackholes)
        await wake(trx, 'blackholes')
        return tookMs
      }),
    )
  const ordered = announcements.toSorted((a, b) => a.announcementId! - b.announcementId!)
  for (let at = 0; at < ordered.length; at += saveBatchSize) {
    const rows = ordered.slice(at, at + saveBatchSize)
    onSettled(await lease.fence(db, (trx) => saveBatch(trx, lease.regionId, rows)))
  }
}

/** The bounds of the ids are for the planner: with them it reads a part of the indexes instead of whole tables. */
async function saveBatch(trx: Trx, regionId: number, rows: readonly ObservedRow[]): Promise<number[]> {
  const ids = rows.map((row) => row.announcementId!)
  const within = sql`between ${ids[0]} and ${ids.at(-1)}`
  await sql`select id from announcements where id = any(${ids}::integer[]) order by id for no key update`.execute(
    trx,
  )
  const changed = await sql<SeenRow>`
    with seen as (
      update announcement_regions ar
      set state = n.state, reason = n.reason, attrs = n.attrs::jsonb, announced_origin = n.announced_origin,
        since = case when ar.state = n.state then ar.since else now() end, settled = ${announcementSettled}
      from unnest(${ids}::integer[], ${rows.map((row) => row.desired)}::boolean[],
          ${rows.map((row) => row.state)}::text[], ${rows.map((row) => row.reason)}::text[],
          ${rows.map(({ attrs }) => attrs && storedJson(attrs))}::text[],
          ${rows.map((row) => row.announcedOrigin)}::bigint[])
          n (announcement_id, desired, state, reason, attrs, announced_origin),
        announcements a
      where ar.region_id = ${regionId} and ar.announcement_id = n.announcement_id and a.id = n.announcement_id
        and ar.announcement_id ${within} and a.id ${within}
        and ${isDesiredRow} = n.desired
        and (ar.state, ar.reason, ar.attrs, ar.announced_origin)
          is distinct from (n.state, n.reason, n.attrs::jsonb, n.announced_origin)
      returning ar.announcement_id, ar.team_id, ar.state, ar.reason, ar.attrs, ar.since = now() as moved,
        ${announcementTookMs} as took_ms),
    ${historyOf(regionId)}
    select announcement_id as id, team_id as "teamId", state, now() as at, took_ms as "tookMs",
      (select r.slug from regions r where r.id = ${regionId}) as region from seen`.execute(trx)
  if (changed.rows.length === 0) return []
  const statuses = await saveStatuses(
    trx,
    changed.rows.map(({ id }) => id),
    within,
  )
  const notified = new Set(statuses.filter(({ before, after }) => before !== after).map(({ id }) => id))
  const quiet = changed.rows.filter(({ id }) => !notified.has(id))
  await writeMessages(trx, regionMessages(quiet, changed.rows[0]!.at))
  return changed.rows.flatMap(({ tookMs }) => tookMs ?? [])
}

type SeenRow = RegionChange & { readonly at: Date; readonly tookMs: number | null }

/**
 * Inserts the team's history: the routers announce the prefix or no longer do, and how long after the request, or they reject it.
 * The duration is capped at the range of its column, 24 days.
 */
const historyOf = (regionId: number) => sql`
  history as (
    insert into announcement_history (announcement_id, team_id, kind, region_id, actor, detail, took_ms)
    select announcement_id, team_id, case state when 'error' then 'refused' else state end, ${regionId}::integer,
      'reconciler', jsonb_strip_nulls(jsonb_build_object('reason', reason, 'attrs', attrs)),
      case when took_ms is not null then least(took_ms, 2147483647) end::integer
    from seen where moved and state in ('announced', 'withdrawn', 'error')
    order by announcement_id)`

/** The result of a run for one router; `error` if it could not be read. */
export type RouterCheck =
  | { readonly name: string; readonly error: string }
  | {
      readonly name: string
      readonly error: null
      readonly drained: boolean
      readonly reach: Reach
      /** Address families of the router's routes. */
      readonly families: ReadonlySet<Family>
      readonly routes: number
      readonly neighbors: readonly Neighbor[]
      readonly checks: readonly NeighborCheck[]
      readonly applied: Applied | null
      readonly daemon: string
    }

/** Only the holder of this epoch saves. */
type Epoch = Pick<RegionLease, 'regionId' | 'epoch'>

export type RegionCheck = {
  readonly at: Date
  readonly quorum: number
  readonly routers: readonly RouterCheck[]
  /** Desired routes that do not reach the neighbors. */
  readonly missing: number
}

/**
 * Saves the result of a full run for the region, and the messages about announcements that this check makes visible. The region
 * counts as checked if a quorum of its routers could be read.
 */
export async function saveCheck(
  db: Db,
  lease: Epoch,
  { at, quorum, routers, missing }: RegionCheck,
): Promise<void> {
  const active = routers.filter((router) => router.error === null && !router.drained)
  const read = active.length
  // A region without routes of a family needs no session for it.
  const reaching = (family: Family) =>
    active.filter((router) => router.error === null && router.reach[family]).length >= quorum ||
    !active.some((router) => router.error === null && router.families.has(family))
  const failed = routers.filter(({ error }) => error !== null)
  // The quorum is at least one: with every router drained a run succeeds without announcements in the region.
  const isDrained = failed.length === 0 && read === 0
  const lastError = isDrained
    ? 'every router is drained, so that none announces the routes: undrain one'
    : failed.map(({ name, error }) => `${name}: ${error}`).join('; ')
  await db.transaction().execute(async (trx) => {
    await sql`
      update regions set last_check = case when ${read >= quorum} then ${at} else last_check end,
        last_check_result = ${read >= quorum}, last_error = ${lastError ? storedText(lastError) : null},
        neighbors4 = ${reaching(4)}, neighbors6 = ${reaching(6)}, routes_missing = ${missing}
      where id = ${lease.regionId} and epoch = ${lease.epoch}`.execute(trx)
    await notifyCheckedStatuses(trx)
  })
  // A router whose values are refused keeps those before.
  await writeRows(db, routers, (some) => saveRouters(db, lease, some, at))
}

/** Keeps the last values of a router that failed. */
async function saveRouters(
  db: Db,
  lease: Epoch,
  routers: readonly RouterCheck[],
  at: Date | null = null,
): Promise<void> {
  await sql`
    insert into region_routers as r
      (region_id, name, last_check, last_check_result, last_error, routes, neighbors, neighbor_checks, applied, daemon, read_epoch)
    select region.id, n.name, case when n.error is null then ${at}::timestamptz end, n.error is null, n.error, n.routes,
      coalesce(n.neighbors, '[]'), coalesce(n.checks, '[]'), n.applied, n.daemon, case when n.error is null then region.epoch end
    from regions region, jsonb_to_recordset(${storedJson(routers)}::jsonb)
      as n (name text, error text, routes integer, neighbors jsonb, checks jsonb, applied jsonb, daemon text)
    where region.id = ${lease.regionId} and region.epoch = ${lease.epoch}
    on conflict (region_id, name) do update
    set last_check = coalesce(excluded.last_check, r.last_check), read_epoch = coalesce(excluded.read_epoch, r.read_epoch),
      last_check_result = excluded.last_check_result,
      last_error = excluded.last_error, routes = coalesce(excluded.routes, r.routes),
      neighbors = case when excluded.last_check_result then excluded.neighbors else r.neighbors end,
      neighbor_checks = case when excluded.last_check_result then excluded.neighbor_checks else r.neighbor_checks end,
      applied = case when excluded.last_check_result then excluded.applied else r.applied end,
      daemon = case when excluded.last_check_result then excluded.daemon else r.daemon end`.execute(db)
}

/**
 * Returns the names of the routers that a later holder of the lock than `epoch` has read; all routers if the database is
 * older than that epoch, after a restore.
 */
export async function readByLaterHolders(
  db: Db,
  regionId: number,
  epoch: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select r.name from region_routers r join regions g on g.id = r.region_id
    where g.id = ${regionId} and (r.read_epoch > ${epoch} or g.epoch < ${epoch})`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Stores that the region could not be checked; the last observed values are kept. `failed`: the routers that failed. */
export async function saveFailedCheck(
  db: Db,
  lease: Epoch,
  message: string,
  failed: readonly { readonly name: string; readonly error: string }[],
): Promise<void> {
  const reason = storedText(message)
  await db.transaction().execute(async (trx) => {
    await sql`
      update regions set last_check_result = false, last_error = ${reason}
      where id = ${lease.regionId} and epoch = ${lease.epoch}
        and (last_check_result is distinct from false or last_error is distinct from ${reason})`.execute(trx)
    await notifyCheckedStatuses(trx)
  })
  if (failed.length === 0) return
  await sql`
    insert into region_routers as r (region_id, name, last_check_result, last_error)
    select g.id, n.name, false, n.error
    from regions g, jsonb_to_recordset(${storedJson(failed)}::jsonb) as n (name text, error text)
    where g.id = ${lease.regionId} and g.epoch = ${lease.epoch}
    on conflict (region_id, name) do update set last_check_result = false, last_error = excluded.last_error
    where (r.last_check_result, r.last_error) is distinct from (false, excluded.last_error)`.execute(db)
}
