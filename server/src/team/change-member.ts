// Changes the roles of a member, or removes the member with everything they hold in the team. For an invitation: changes its
// roles, or revokes it.
import type { Member } from '@pharos/contract/team/member'
import { orderedRoles, type Role } from '@pharos/contract/role'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Trx } from '../db/postgres.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { demoteHoldings, revokeHoldings, type Lost } from './holdings.ts'
import { deleteInvitation } from './invitation.store.ts'
import { presentMember } from './member.ts'
import { chosenRoles, refuseBothForms, type ChosenRoles } from './chosen-roles.ts'
import { deleteMembership, hasOtherAdmin, readMember, saveRoles, type MemberRow } from './member.store.ts'
import { getTeamAccess, operationIn, requireTeamGrant, type TeamAccess } from './team-access.ts'
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

/** Changes the roles. Throws `last_admin` if the team would have no admin. */
export async function updateMember(
  deps: TeamDeps,
  operation: Operation,
  named: string,
  id: number,
  change: ChosenRoles,
): Promise<ChangeAnswer<Member>> {
  requireOneForm(change)
  const entered = await getTeamAccess(deps.db, operation, named, 'team.see')
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const { access, member } = await lockMember(trx, operation, entered, id)
    requireTeamGrant(access, 'team.manage')
    requireMatch(operation.ifMatch, etagOf(member.version))
    const roles = await rolesAfter(trx, access.teamId, member, change)
    if (isSame(roles, orderedRoles(member.roles))) return presentMember(member)
    await changeRoles(trx, inTeam, member, roles)
    return presentMember((await readMember(trx, access.teamId, id))!)
  })
}

function requireOneForm({ roles, is_admin: isAdmin }: ChosenRoles): void {
  if (roles === undefined && isAdmin === undefined) throw invalid(['body', 'roles'], 'rolesMissing')
  refuseBothForms({ roles, is_admin: isAdmin })
}

/** A value of `is_admin` that the member already has is no change: programs that know no other roles send it. */
async function rolesAfter(
  trx: Trx,
  teamId: number,
  member: MemberRow,
  change: ChosenRoles,
): Promise<readonly Role[]> {
  if (change.is_admin === member.is_admin) return orderedRoles(member.roles)
  return chosenRoles(trx, teamId, change)
}

const isSame = (a: readonly Role[], b: readonly Role[]): boolean => a.join() === b.join()

async function changeRoles(
  trx: Trx,
  operation: Operation,
  member: MemberRow,
  roles: readonly Role[],
): Promise<void> {
  const { teamId } = operation.actor
  if (!roles.includes('admin')) await requireOtherAdmin(trx, teamId, member)
  await saveRoles(trx, teamId, member, roles)
  const lost =
    member.user_id === null ? {} : await demoteHoldings(trx, teamId, member.user_id, member.roles, roles)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'member.update',
    target: `member:${member.id}`,
    before: { email: member.email, roles: orderedRoles(member.roles) },
    after: { email: member.email, roles, ...lost },
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
): Promise<ChangeAnswer<null>> {
  const entered = await getTeamAccess(deps.db, operation, named, 'team.see')
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const { access, member } = await lockMember(trx, operation, entered, id)
    if (!isSelf(operation, member)) requireTeamGrant(access, 'team.manage')
    requireMatch(operation.ifMatch, etagOf(member.version))
    const { email } = member
    const before = { email, roles: orderedRoles(member.roles) }
    if (member.user_id === null) {
      await withdraw(trx, inTeam, member, before)
      return { body: null, before }
    }
    const lost = await remove(trx, inTeam, member, { user_id: member.user_id, ...before })
    return { body: null, before: { ...before, ...lost } }
  })
}

const isSelf = ({ actor }: Operation, { user_id: userId }: MemberRow): boolean =>
  actor.kind === 'user' && actor.userId === userId

type Removed = { readonly email: string; readonly roles: readonly Role[] }

/** Returns what ended with the membership. */
async function remove(
  trx: Trx,
  operation: Operation,
  member: MemberRow,
  before: Removed & { readonly user_id: number },
): Promise<Lost> {
  const { teamId } = operation.actor
  await requireOtherAdmin(trx, teamId, member)
  const lost = await revokeHoldings(trx, teamId, before.user_id)
  await deleteMembership(trx, teamId, before.user_id)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'member.remove',
    target: `member:${member.id}`,
    before,
    after: lost,
  })
  return lost
}

async function withdraw(trx: Trx, operation: Operation, member: MemberRow, before: Removed): Promise<void> {
  await deleteInvitation(trx, operation.actor.teamId, member.id)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'invitation.withdraw',
    target: `member:${member.id}`,
    before,
  })
}
