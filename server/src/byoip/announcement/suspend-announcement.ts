// Suspending and resuming by the operator's staff, and by the policy of the validator: stored as intent, applied by the
// reconciler behind its guard.
import type { SuspendedBy } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement as Wire } from '@pharos/contract/byoip/announcement'
import { sql } from 'kysely'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { notFound } from '../../runtime/error.ts'
import { actorName, type StaffOperation } from '../../operation/operation.ts'
import { desiredChanges, withIntent, type Announcement } from '../status/announcement.ts'
import { lockAnnouncement, saveAnnouncement } from './announcement.store.ts'
import { writeHistory } from './history.store.ts'
import { presentAnnouncement } from './present-announcement.ts'

export type SuspendDeps = { readonly db: Db; readonly now: () => Date }

/** Suspends an announcement of any team; throws `not_found`. */
export const suspendAnnouncement = (
  deps: SuspendDeps,
  operation: StaffOperation,
  id: number,
  { reason }: { readonly reason: string },
): Promise<ChangeAnswer<Wire>> => suspendOrResume(deps, operation, id, reason)

/** Resumes an announcement of any team; throws `not_found`. */
export const resumeAnnouncement = (
  deps: SuspendDeps,
  operation: StaffOperation,
  id: number,
): Promise<ChangeAnswer<Wire>> => suspendOrResume(deps, operation, id, null)

/** A null reason resumes the announcement. */
function suspendOrResume(
  { db, now }: SuspendDeps,
  operation: StaffOperation,
  id: number,
  reason: string | null,
): Promise<ChangeAnswer<Wire>> {
  return runOwnerChange(db, operation, async (trx) => {
    const teamId = await teamOf(trx, id)
    const actor = actorName(operation.actor)
    const suspension = reason === null ? null : ({ by: 'staff', reason } as const)
    const { before, after } = await setSuspended(trx, teamId, id, suspension, now(), actor)
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId,
      action: reason === null ? 'announcement.resume' : 'announcement.suspend',
      target: `announcement:${id}`,
      before: { suspended: before.suspended },
      after: { suspended: after.suspended, reason, desired: desiredChanges(before, after) },
    })
    await wake(trx, 'announcements')
    return {
      body: presentAnnouncement(after, {}),
      before: presentAnnouncement(before, {}),
      beside: {
        before: { suspended: before.suspended, suspended_reason: before.details.suspended_reason },
        after: { suspended: after.suspended, suspended_reason: reason },
      },
    }
  })
}

async function teamOf(trx: Trx, id: number): Promise<number> {
  const { rows } = await sql<{ team_id: number }>`
    select team_id from announcements where id = ${id}::bigint and deleted is null`.execute(trx)
  if (!rows[0]) throw notFound('announcement')
  return rows[0].team_id
}

/** Suspends or resumes by the policy of the validation. */
export function suspendByValidation(
  trx: Trx,
  { teamId, id }: { readonly teamId: number; readonly id: number },
  isSuspended: boolean,
  now: Date,
): Promise<unknown> {
  const suspension = isSuspended ? ({ by: 'validation', reason: null } as const) : null
  return setSuspended(trx, teamId, id, suspension, now, 'validator')
}

type Suspension = { readonly by: SuspendedBy; readonly reason: string | null }

/**
 * Suspends or, with null, resumes an announcement: updates its regions and adds a history entry. If it is already suspended,
 * only the reason and the actor change.
 */
async function setSuspended(
  trx: Trx,
  teamId: number,
  id: number,
  suspension: Suspension | null,
  now: Date,
  actor: string,
): Promise<{ before: Announcement; after: Announcement }> {
  const locked = await lockAnnouncement(trx, teamId, id)
  if (!locked) throw notFound('announcement')
  const before = locked.announcement
  const suspended = suspension !== null
  await sql`update announcements set suspended = ${suspended}, suspended_by = ${suspension?.by ?? null},
      suspended_reason = ${suspension?.reason ?? null},
      version = version + (suspended and suspended_reason is distinct from ${suspension?.reason ?? null})::integer
    where team_id = ${teamId} and id = ${id}`.execute(trx)
  if (before.suspended === suspended) return { before, after: before }
  const configured = new Set(before.regions.filter((one) => one.configured).map(({ regionId }) => regionId))
  const after = withIntent(before, { enabled: before.enabled, suspended, configured }, locked.open, now)
  await saveAnnouncement(trx, before, after)
  const kind = suspended ? 'suspended' : 'resumed'
  await writeHistory(trx, {
    announcementId: id,
    teamId,
    kind,
    actor,
    detail: suspension ?? {},
  })
  return { before, after }
}
