// The shown state of regions and announcements while routers cannot be read, as SQL expressions, so that filters, counts and
// orders match the responses: the SQL counterpart of reported-announcement.ts (decision 027).
import { sql, type RawBuilder } from 'kysely'

/**
 * The result of the last check of region `r`: false also if two further checks are overdue by more than a minute; null before
 * the first.
 */
export const regionCheckResult = sql<boolean | null>`case when r.last_check_result
  then (r.last_check > now() - 3 * r.check_interval - interval '1 minute') is true else r.last_check_result end`

/** False instead of true while a desired route of region `r` is missing, or while too few routers have a session for one. */
export const asDesired = (result: RawBuilder<boolean | null>) => sql<boolean | null>`case
  when ${result} then r.routes_missing = 0 and r.neighbors4 and r.neighbors6 else ${result} end`

/** Which families each region is known to carry: its routers can be read and have established sessions. */
const regionReach = sql`(
  select r.id, c.is_read and r.neighbors4 as carries4, c.is_read and r.neighbors6 as carries6
  from regions r cross join lateral (select (${regionCheckResult}) is true as is_read) c)`

/** Whether every region is known to carry both families, so that every stored status is shown. */
export const isEveryRegionRead = sql<boolean>`(
  select coalesce(bool_and(o.carries4 and o.carries6), true) from ${regionReach} o)`

/**
 * The announcements that are announced in a region which cannot be read or has no session, and whether another region is known
 * to carry them. Reads no announcement while every region can be read. `condition` restricts `ar`, the rows of
 * announcement_regions.
 */
export const unreadAnnouncements = (condition: RawBuilder<unknown>) => sql`(
  select ar.announcement_id, bool_or(c.carries) as is_read_elsewhere
  from announcement_regions ar
    join announcements a on a.id = ar.announcement_id
    join ${regionReach} r on r.id = ar.region_id
    cross join lateral (
      select case family(a.prefix) when 4 then r.carries4 else r.carries6 end as carries) c
  where ar.configured and ar.state = 'announced' and ${condition}
    and not ${isEveryRegionRead}
  group by ar.announcement_id
  having not bool_and(c.carries))`

/** The status that is shown of announcement `a`, left joined with its row `u` of `unreadAnnouncements`. */
export const reportedStatus = sql<string>`case
  when u.is_read_elsewhere is null or a.status not in ('announced', 'partially_announced') then a.status
  when u.is_read_elsewhere then 'partially_announced'
  else 'announcing' end`
