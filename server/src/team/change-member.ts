// Changes the role of a member, or removes the member with everything they hold in the team. For an invitation: changes its
// role, or revokes it.
import type { Member } from '@pharos/contract/member'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, type Answer } from '../db/run-change.ts'
import type { Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { demoteHoldings, revokeHoldings } from './holdings.ts'
import { deleteInvitation } from './invitation.store.ts'
import { presentMember } from './member.ts'
import { deleteMembership, hasOtherAdmin, readMember, setAdmin, type MemberRow } from './member.store.ts'
import { enterTeam, operationIn, requireAdmin, type TeamAccess } from './team-access.ts'
import { lockTeam } from './team-lock.ts'
import type { TeamDeps } from './team.ts'

/** The context of an operation on a member, after locking the team and finding the member. */
type LockedMember = { readonly access: TeamAccess; readonly member: MemberRow }

async function lockMember(
  trx: Trx,
  operation: Operation,
  entered: TeamAccess,
  id: number,
): Promise<LockedMember> {
  const { access } = await lockTeam(trx, operation, entered)
  const member = await readMember(trx, access.teamId, id)
  if (!member) throw notFound('member')
  return { access, member }
}

/** Changes the admin role. Throws `last_admin` if the team would have no admin. */
export async function updateMember(
  deps: TeamDeps,
  operation: Operation,
  named: string,
  id: number,
  { is_admin: isAdmin }: { readonly is_admin: boolean },
): Promise<Answer<Member>> {
  const entered = await enterTeam(deps.db, operation, named)
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const { access, member } = await lockMember(trx, operation, entered, id)
    requireAdmin(access)
    requireMatch(operation.ifMatch, etagOf(member.version))
    if (member.is_admin === isAdmin) return presentMember(member)
    await changeRole(trx, inTeam, member, isAdmin)
    return presentMember((await readMember(trx, access.teamId, id))!)
  })
}

async function changeRole(
  trx: Trx,
  operation: Operation,
  member: MemberRow,
  isAdmin: boolean,
): Promise<void> {
  const { teamId } = operation.actor
  if (!isAdmin) await requireOtherAdmin(trx, teamId, member)
  await setAdmin(trx, teamId, member, isAdmin)
  const lost = isAdmin || member.user_id === null ? {} : await demoteHoldings(trx, teamId, member.user_id)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'member.update',
    target: `member:${member.id}`,
    before: { email: member.email, is_admin: member.is_admin },
    after: { email: member.email, is_admin: isAdmin, ...lost },
  })
}

async function requireOtherAdmin(trx: Trx, teamId: number, member: MemberRow): Promise<void> {
  if (!member.is_admin || member.status === 'invited' || (await hasOtherAdmin(trx, teamId, member.id))) return
  throw fail('last_admin', 'team')
}

/** Removes the member, or revokes the invitation. Members may remove themselves. */
export async function removeMember(
  deps: TeamDeps,
  operation: Operation,
  named: string,
  id: number,
): Promise<Answer<null>> {
  const entered = await enterTeam(deps.db, operation, named)
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const { access, member } = await lockMember(trx, operation, entered, id)
    if (!isSelf(operation, member)) requireAdmin(access)
    requireMatch(operation.ifMatch, etagOf(member.version))
    await (member.user_id === null
      ? withdraw(trx, inTeam, member)
      : remove(trx, inTeam, member, member.user_id))
    return { body: null }
  })
}

const isSelf = ({ actor }: Operation, { user_id: userId }: MemberRow): boolean =>
  actor.kind === 'user' && actor.userId === userId

async function remove(trx: Trx, operation: Operation, member: MemberRow, userId: number): Promise<void> {
  const { teamId } = operation.actor
  await requireOtherAdmin(trx, teamId, member)
  const lost = await revokeHoldings(trx, teamId, userId)
  await deleteMembership(trx, teamId, userId)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'member.remove',
    target: `member:${member.id}`,
    before: { user_id: userId, email: member.email, is_admin: member.is_admin },
    after: lost,
  })
}

async function withdraw(trx: Trx, operation: Operation, member: MemberRow): Promise<void> {
  await deleteInvitation(trx, operation.actor.teamId, member.id)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'invitation.withdraw',
    target: `member:${member.id}`,
    before: { email: member.email, is_admin: member.is_admin },
  })
}
