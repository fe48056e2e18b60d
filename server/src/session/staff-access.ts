// Staff enter the team of a customer with a reason and a window, which the customer reads. Opening and closing an access
// writes the audit log of the team; the access itself is checked with the credential (credentials.store.ts).
import type { ReviewedStaffAccess, listStaffAccessesRoute } from '@pharos/contract/operator/staff-access'
import type { QueryOf } from '@pharos/contract/route'
import type { TeamSwitch, closeStaffAccessRoute } from '@pharos/contract/session/session'
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import { staffAccessLimits, type StaffAccess } from '@pharos/contract/staff-role'
import type { BodyOf } from '@pharos/contract/route'
import { auditOf, auditOfActor, writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { isUpgradeFinished } from '../db/release.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Operation, UserActor } from '../operation/operation.ts'
import { invalid, notFound } from '../runtime/error.ts'
import type { RequestSource } from './request-source.ts'
import { requireUser } from './require-user.ts'
import {
  closeOpenAccess,
  findStaffAccess,
  insertStaffAccess,
  listStaffAccessRows,
  type StaffAccessRow,
} from './staff-access.store.ts'

/** The body of a switch with its reason. */
export type Entering = TeamSwitch & { readonly reason: string }

/** Writes the message to the webhooks and the stream of the team. */
export type TeamNotice = {
  readonly writeNotice: (trx: Trx, teamId: number, data: MessageData<'team.staff_access'>) => Promise<void>
}

/** Returns the request for an access; undefined for a plain switch. Throws `invalid` for a part of a request. */
export function enteringOf({ reason, ...rest }: TeamSwitch): Entering | undefined {
  const given = (['ticket', 'change', 'hours'] as const).find((name) => rest[name] !== undefined)
  if (reason === undefined && given === undefined) return undefined
  if (reason === undefined) throw invalid(['body', 'reason'], 'reasonMissing', { field: given! })
  const { reasonMin } = staffAccessLimits
  if (reason.trim().length < reasonMin)
    throw invalid(['body', 'reason'], 'reasonTooShort', { least: reasonMin })
  return { reason: reason.trim(), ...rest }
}

/** Opens an access of the session, in the place of an open one to the same team, and tells the team. The session is locked. */
export async function openStaffAccess(
  trx: Trx,
  { writeNotice }: TeamNotice,
  { requestId, address }: RequestSource,
  actor: UserActor,
  teamId: number,
  { reason, change = false, hours = 1, ...given }: Entering,
): Promise<void> {
  const { userId, sessionId } = actor
  const ticket = given.ticket ?? null
  const row = await insertStaffAccess(trx, { teamId, userId, sessionId, reason, ticket, change, hours })
  const [opened, expires] = [row.opened.toISOString(), row.expires.toISOString()]
  await writeAudit(trx, {
    ...auditOfActor(actor),
    teamId,
    ...subjectOf(row.id),
    action: 'staff.access',
    after: { reason, ticket, change, opened, expires },
    requestId,
    address,
  })
  // A process of the release before could not render the notification.
  if (!(await isUpgradeFinished(trx))) return
  const data = { staff_access_id: row.id, reason, ticket, change, at: opened, expires }
  await writeNotice(trx, teamId, data)
}

const subjectOf = (id: number) => ({ credential: `staff_access:${id}`, target: `staff_access:${id}` })

/** Closes the open access of the session to its team, or to the named one; throws `not_found` if none is open. */
export function closeStaffAccess(
  { db }: { readonly db: Db },
  operation: Operation,
  { team_id: named }: BodyOf<typeof closeStaffAccessRoute>,
): Promise<ChangeAnswer<StaffAccess>> {
  const actor = requireUser(operation)
  const teamId = named ?? actor.teamId
  return runOwnerChange(db, operation, async (trx) => {
    const id = await closeOpenAccess(trx, actor.sessionId, teamId)
    if (id === undefined) throw notFound('open staff access')
    await writeAudit(trx, { ...auditOf(operation), teamId, ...subjectOf(id), action: 'staff.leave' })
    return { body: presentStaffAccess((await findStaffAccess(trx, id))!) }
  })
}

export async function listStaffAccesses(
  { db }: { readonly db: Db },
  _operation: unknown,
  query: QueryOf<typeof listStaffAccessesRoute>,
): Promise<{ results: ReviewedStaffAccess[]; count: number }> {
  const { page, count } = await listStaffAccessRows(db, query)
  return { results: page.map(presentReviewed), count }
}

export const presentStaffAccess = (row: StaffAccessRow): StaffAccess => ({
  id: row.id,
  team_id: row.team_id,
  reason: row.reason,
  ticket: row.ticket,
  change: row.change,
  opened: row.opened.toISOString(),
  expires: row.expires.toISOString(),
  ended: row.ended?.toISOString() ?? null,
})

const presentReviewed = (row: StaffAccessRow): ReviewedStaffAccess => ({
  ...presentStaffAccess(row),
  team: { id: row.team_id, name: row.team_name },
  user_id: row.user_id,
  user_email: row.user_email,
})
