// Conditions on announcements that several statements share: which are desired, and which audit entries change that.
import { sql } from 'kysely'

/** A deleted announcement is desired nowhere. An unclaimed one cannot be enabled, and is no evidence either. */
export const isDesired = sql`(ar.configured and a.enabled and not a.suspended and a.claimed is not null and a.deleted is null)`

/** Audit actions about the desired state of an announcement. */
export const desiredActions = sql`('announcement.update', 'announcement.suspend', 'announcement.resume',
  'announcement.delete', 'announcement.restore')`
