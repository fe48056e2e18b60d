// Conditions on announcements that several statements share: which are desired, and which audit entries change that.
import { sql, type RawBuilder } from 'kysely'

/** A deleted announcement is desired nowhere. An unclaimed one cannot be enabled, and is no evidence either. */
export const isDesiredRow = sql`(ar.configured and a.enabled and not a.suspended and a.claimed is not null and a.deleted is null)`

/**
 * Whether the audit entry `e` is about the desired state of announcement `a` in the region with this slug. The operations of an
 * announcement itself list the regions that they concern (`desired`, see desiredChanges()); any other entry concerns all of them.
 */
export const isAboutDesired = (slug: RawBuilder<unknown>) => sql`(
  e.team_id = a.team_id and e.target = 'announcement:' || a.id
  and e.action in ('announcement.update', 'announcement.suspend', 'announcement.resume', 'announcement.delete',
    'announcement.restore')
  and case when jsonb_exists(e.after, 'desired') then jsonb_exists(e.after -> 'desired', ${slug})
    else e.action <> 'announcement.update' or jsonb_exists_any(e.after, array['enabled', 'regions', 'suspended']) end)`

/**
 * The order of changes. A clock may be set back, ids are not: they are taken while the announcement is locked. The sum keeps the
 * planner from reading the audit log backwards by its primary key.
 */
export const newestFirst = sql`e.id + 0 desc`
