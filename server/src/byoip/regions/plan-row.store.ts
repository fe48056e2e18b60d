// The SQL of the rows that a plan is made from. As the owner of the tables, of all teams.
import { sql, type RawBuilder } from 'kysely'
import { decidedOf } from '../../approval/approval-sql.ts'
import type { Db } from '../../db/postgres.ts'
import { changesPerHourMax } from '../status/announcement.ts'
import { isMoving, readBlackholeRows } from './blackhole.store.ts'
import { isAboutDesired, isDesiredRow, newestFirst } from './desired.store.ts'
import type { PlanRow } from './plan.ts'

/**
 * Whether the withdrawal was requested by name: the newest audit entry about the desired state of the announcement in
 * this region is one of its own operations, which disabled it here, suspended or deleted it. Loops and platform
 * documents change many announcements together and write no such mark.
 */
const isRequested = sql`case when ${isDesiredRow} or ar.state = 'withdrawn' then false else coalesce((
    select e.after -> 'desired' ->> g.slug = 'false' from audit_entries e, regions g
    where g.id = ar.region_id and ${isAboutDesired(sql`g.slug`)}
    order by ${newestFirst} limit 1), false) end`

/** The newest audit entry about the desired state of the announcement in this region. */
const changedEntry = sql`(
  select e.id from audit_entries e, regions g
  where g.id = ar.region_id and ${isAboutDesired(sql`g.slug`)}
  order by ${newestFirst} limit 1)`

/**
 * That entry while the region has decisions of staff to compare it with, else null: the entries of 10,000 rows take longer than the
 * rows themselves.
 */
const changedEntryIfDecided = (regionId: number) => sql`case when exists (
    select ${decidedOf('routes')} and a.region_id = ${regionId})
  then ${changedEntry} end`

const planRow = (
  entry: RawBuilder<unknown>,
) => sql`ar.announcement_id as "announcementId", a.team_id as "teamId", ar.region_id as "regionId", a.prefix,
  a.origin_asn as "originAsn", a.checked_origin as "checkedOrigin", ${isDesiredRow} as desired,
  ${isRequested} as requested, ar.state, ar.reason, ar.attrs, ar.announced_origin as "announcedOrigin",
  (extract(epoch from ar.changes[cardinality(ar.changes)]) * 1000)::float8 as "changedMs",
  ${entry} as "changedEntry",
  (extract(epoch from ar.changes[cardinality(ar.changes) - ${sql.lit(changesPerHourMax)}]) * 1000)::float8 as "limitMs"`

/** Returns every row of the region that decides about its prefix, of all teams. */
export async function readRegionRows(db: Db, regionId: number): Promise<PlanRow[]> {
  const rows = await Promise.all([readAnnouncementRows(db, regionId), readBlackholeRows(db, regionId)])
  return rows.flat()
}

/**
 * The rows of announcements, in one snapshot: one statement. 10,000 rows take about 40 ms. Of deleted announcements
 * only the newest counts, and only if no other announcement has the prefix now.
 */
async function readAnnouncementRows(db: Db, regionId: number): Promise<PlanRow[]> {
  const { rows } = await sql<PlanRow>`
    select ${planRow(changedEntryIfDecided(regionId))}
    from announcement_regions ar join announcements a on a.id = ar.announcement_id
    where ar.region_id = ${regionId} and a.claimed is not null and (a.deleted is null or not exists (
      select from announcements o
      where o.prefix = a.prefix and o.claimed is not null and (o.deleted is null
        or (o.deleted, o.id) > (a.deleted, a.id) and exists (
          select from announcement_regions r where r.announcement_id = o.id and r.region_id = ar.region_id))))`.execute(
    db,
  )
  return rows
}

/** Maximum number of rows in motion for a quick run; for more, the full run is as fast. */
export const movingMax = 200

/**
 * Returns the rows of the region that were changed and have no message of a run since; a run adds one if it cannot finish the row.
 * Returns at most one more announcement than `movingMax`, by a partial index of such rows. If one black hole was changed, all of the
 * region are returned: their limits concern all of them.
 */
export async function readMovingRows(db: Db, regionId: number): Promise<PlanRow[]> {
  const [{ rows }, blackholes] = await Promise.all([
    movingRowsQuery(regionId).execute(db),
    readBlackholeRows(db, regionId),
  ])
  return blackholes.some(isMoving) ? [...rows, ...blackholes] : rows
}

/**
 * The statement of readMovingRows(), of which a test checks the query plan. It leaves PostgreSQL no choice: with statistics
 * from a time when all rows were in motion, it would read whole tables for two hundred of them. No other index has the order
 * of `since`, and the planner cannot reorder a lateral join with a limit.
 */
export const movingRowsQuery = (regionId: number) => sql<PlanRow>`
  with moving as materialized (
    select * from announcement_regions
    where region_id = ${regionId} and state in ('announcing', 'withdrawing') and reason is null
    order by since limit ${sql.lit(movingMax + 1)})
  select ${planRow(changedEntry)}
  from moving ar cross join lateral (
    select * from announcements where id = ar.announcement_id and claimed is not null and deleted is null limit 1) a`
