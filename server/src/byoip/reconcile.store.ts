// The SQL of the reconciler: it works for all teams, as the owner of the tables. Statements are about whole regions,
// never about one row in a loop.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { changesPerHourMax, type RegionState } from './announcement.ts'
import type { PlanRow } from './plan.ts'
import { LeaseLost, type RegionLease } from './region-lock.store.ts'
import { saveStatuses } from './status.store.ts'

/** A region as the loops need it. */
export type RegionRecord = {
  readonly id: number
  readonly slug: string
  /** How its router is reached, as the operator's file says. */
  readonly speaker: unknown
}

export async function readRegions(db: Db): Promise<RegionRecord[]> {
  const { rows } = await sql<RegionRecord>`select id, slug, speaker from regions order by id`.execute(db)
  return rows
}

const isDesired = sql`(ar.configured and a.enabled and not a.suspended)`

/** Every row of the region, of all teams, in one snapshot: one statement. 10,000 rows take about 40 ms. */
export async function readRegionRows(db: Db, regionId: number): Promise<PlanRow[]> {
  const { rows } = await sql<PlanRow>`
    select ar.announcement_id as "announcementId", ar.region_id as "regionId", a.prefix, a.origin_asn as "originAsn",
      ${isDesired} as desired, ar.state, ar.message,
      (extract(epoch from ar.changes[cardinality(ar.changes)]) * 1000)::float8 as "changedMs",
      (extract(epoch from ar.changes[cardinality(ar.changes) - ${changesPerHourMax}::integer]) * 1000)::float8 as "limitMs"
    from announcement_regions ar join announcements a on a.id = ar.announcement_id
    where ar.region_id = ${regionId}`.execute(db)
  return rows
}

/** How long PostgreSQL lets a paused process stand between another reconciler and the region. */
const fenceTimeout = '15s'

type Fence = Pick<RegionLease, 'regionId' | 'epoch'>

/**
 * Runs `send` while the region's row is locked in shared mode at the epoch of the lease: whoever wants to take over has
 * to raise the epoch, and waits until it is sent. Throws LeaseLost when that has happened already.
 */
export async function whileHolding<T>(db: Db, fence: Fence, send: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ epoch: number }>`
      select epoch, set_config('idle_in_transaction_session_timeout', ${fenceTimeout}, true)
      from regions where id = ${fence.regionId} for share`.execute(trx)
    if (rows[0]?.epoch !== fence.epoch) throw new LeaseLost(fence.regionId)
    return send(trx)
  })
}

/**
 * Those of the prefixes that may still be withdrawn, as the database says now: a row says "not here", or, for the
 * `unexplained`, no row says "here". Their announcements stay locked until the end of the transaction, so that whoever
 * switches one on again waits until the withdrawal is sent. Two statements, as in lockAnnouncement().
 */
export async function confirmWithdrawals(
  trx: Trx,
  regionId: number,
  prefixes: readonly Prefix[],
  unexplained: readonly Prefix[],
): Promise<Prefix[]> {
  await sql`select id from announcements where prefix = any(${[...prefixes, ...unexplained]}::cidr[])
    order by id for share`.execute(trx)
  const { rows } = await sql<{ prefix: Prefix }>`
    select n.prefix
    from unnest(${prefixes}::text[]) n (prefix)
    join announcements a on a.prefix = n.prefix::cidr
    join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = ${regionId}
    where not ${isDesired}
    union all
    select n.prefix
    from unnest(${unexplained}::text[]) n (prefix)
    left join announcements a on a.prefix = n.prefix::cidr
    left join announcement_regions ar on ar.announcement_id = a.id and ar.region_id = ${regionId}
    where ${isDesired} is not true`.execute(trx)
  return rows.map(({ prefix }) => prefix)
}

/** What was seen of one row, where it differs from what is stored. */
export type SeenRow = {
  readonly announcementId: number
  /** What was desired when it was looked at. */
  readonly desired: boolean
  readonly state: RegionState
  readonly message: string | null
}

/** Announcements whose rows are written at once, in about 50 ms; a PATCH of one of them waits for as long. */
const savedAtOnce = 2_000

/**
 * Saves what was seen, with the statuses that follow from it. A row that was switched in the meantime is left alone:
 * its direction was set by the switch, and the next run looks again.
 */
export async function saveSeen(db: Db, fence: Fence, seen: readonly SeenRow[]): Promise<void> {
  const ordered = seen.toSorted((a, b) => a.announcementId - b.announcementId)
  for (let at = 0; at < ordered.length; at += savedAtOnce) {
    const rows = ordered.slice(at, at + savedAtOnce)
    await whileHolding(db, fence, (trx) => saveSome(trx, fence.regionId, rows))
  }
}

/** The bounds of the ids are for the planner: with them it reads a part of the indexes instead of whole tables. */
async function saveSome(trx: Trx, regionId: number, rows: readonly SeenRow[]): Promise<void> {
  const ids = rows.map((row) => row.announcementId)
  const within = sql`between ${ids[0]} and ${ids.at(-1)}`
  await sql`select id from announcements where id = any(${ids}::integer[]) order by id for no key update`.execute(
    trx,
  )
  const changed = await sql<{ announcement_id: number }>`
    update announcement_regions ar
    set state = n.state, message = n.message, since = case when ar.state = n.state then ar.since else now() end
    from unnest(${ids}::integer[], ${rows.map((row) => row.desired)}::boolean[],
        ${rows.map((row) => row.state)}::text[], ${rows.map((row) => row.message)}::text[])
        n (announcement_id, desired, state, message),
      announcements a
    where ar.region_id = ${regionId} and ar.announcement_id = n.announcement_id and a.id = n.announcement_id
      and ar.announcement_id ${within} and a.id ${within}
      and ${isDesired} = n.desired
      and (ar.state <> n.state or ar.message is distinct from n.message)
    returning ar.announcement_id`.execute(trx)
  if (changed.rows.length > 0)
    await saveStatuses(
      trx,
      changed.rows.map((row) => row.announcement_id),
      within,
    )
}

/** The region was compared at that time. */
export async function saveCheck(db: Db, fence: Fence, at: Date): Promise<void> {
  await sql`
    update regions set last_check = ${at}, last_check_result = true, last_error = null
    where id = ${fence.regionId} and epoch = ${fence.epoch}`.execute(db)
}

/** The region could not be compared; what was last seen stays as it is. */
export async function saveFailedCheck(db: Db, fence: Fence, message: string): Promise<void> {
  await sql`
    update regions set last_check_result = false, last_error = ${message}
    where id = ${fence.regionId} and epoch = ${fence.epoch}
      and (last_check_result is distinct from false or last_error is distinct from ${message})`.execute(db)
}
