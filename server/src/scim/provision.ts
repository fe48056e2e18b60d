// Makes the members of a team what SCIM states: reads the facts, plans (plan-member.ts), and applies the plans, in the transaction of the request. The team is locked
// first, as by every change of its members, so that a sign-in or an invitation comes before or after.
import type { Role } from '@pharos/contract/role'
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { queueStaffMail } from '../mail/staff-mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { demoteHoldings, revokeHoldings } from '../team/holdings.ts'
import { countMembers, deleteMembership } from '../team/member.store.ts'
import { lockTeamRow } from '../team/team-lock.store.ts'
import { ScimError } from './error.ts'
import { planMember, type MemberPlan } from './plan-member.ts'
import {
  countAdmins,
  endProofsOf,
  insertMembers,
  linkMembers,
  readProvisioned,
  saveScimRoles,
  withdrawInvitationsTo,
  type JoiningUser,
  type ProvisionRow,
} from './provision.store.ts'
import type { ScimProvider } from './scim.store.ts'

export type ProvisionDeps = { readonly ring: KeyRing; readonly membersPerTeam: number }

/** Who is named in the audit log. */
export type Author = Pick<AuditEntry, 'actor'> &
  Partial<Pick<AuditEntry, 'credential' | 'requestId' | 'address'>>

type Scope = {
  readonly trx: Trx
  readonly deps: ProvisionDeps
  readonly provider: ScimProvider
  readonly author: Author
}
type Planned = { readonly row: ProvisionRow; readonly plan: MemberPlan }

/**
 * Applies the roles of these users of SCIM, or of all for null. The caller has locked the team. Throws ScimError if it has no room. An admin may be the last one: staff are
 * told.
 */
export async function provision(
  trx: Trx,
  deps: ProvisionDeps,
  provider: ScimProvider,
  author: Author,
  userIds: readonly string[] | null,
): Promise<void> {
  const scope = { trx, deps, provider, author }
  const rows = await readProvisioned(trx, provider, userIds)
  const planned = rows
    .map((row): Planned => ({ row, plan: planMember(factsOf(row), row.default_roles) }))
    .filter(({ row, plan }) => plan.kind !== 'keep' || !row.active)
  for (const one of planned) await applyOne(scope, one)
  await joinAll(scope, planned)
  if (planned.some(losesAdmin)) await reportLastAdmin(scope)
}

const losesAdmin = ({ row, plan }: Planned): boolean =>
  plan.kind !== 'keep' &&
  row.roles?.includes('admin') === true &&
  !('roles' in plan && plan.roles.includes('admin'))

async function reportLastAdmin({ trx, deps, provider: { teamId } }: Scope): Promise<void> {
  if ((await countAdmins(trx, teamId)) > 0) return
  const team = await lockTeamRow(trx, teamId)
  const at = new Date().toISOString()
  const content = { change: 'last admin removed', team: team!.name, at } as const
  await queueStaffMail({ ring: deps.ring, recipients: [] }, trx, 'team-sign-in', content)
}

const factsOf = (row: ProvisionRow) => ({
  active: row.active,
  mapped: row.mapped,
  membership:
    row.membership_id === null ? null : { roles: row.roles!, source: row.roles_source!, isOwn: row.is_own },
  isReserved: row.is_reserved,
  isDomainBound: row.is_bound,
  endedBy: row.ended_by,
})

async function applyOne(scope: Scope, { row, plan }: Planned): Promise<void> {
  const { trx, provider } = scope
  // Also without a membership: nobody invited before comes back by that.
  if (plan.kind === 'remove' || !row.active)
    await withdrawInvitationsTo(trx, provider.teamId, [row.email, row.account_email ?? row.email])
  if (plan.kind === 'remove') return remove(scope, row)
  if (plan.kind !== 'update' && plan.kind !== 'adopt') return
  const member = { id: row.id, user_id: row.user_id!, member_id: row.membership_id! }
  if (plan.kind === 'adopt') await linkMembers(trx, provider, [member])
  await changeRoles(scope, row, plan.roles)
}

async function changeRoles(
  { trx, provider, author }: Scope,
  row: ProvisionRow,
  roles: readonly Role[],
): Promise<void> {
  const { teamId } = provider
  const before = row.roles!
  await saveScimRoles(trx, teamId, row.membership_id!, roles)
  const lost = await demoteHoldings(trx, teamId, row.user_id!, before, roles)
  await writeAudit(trx, {
    ...author,
    teamId,
    action: 'member.update',
    target: `member:${row.membership_id!}`,
    before: { email: row.account_email, roles: before },
    after: { email: row.account_email, roles, source: 'scim', ...lost },
  })
}

/** One transaction ends the membership and everything that it holds. */
async function remove({ trx, provider, author }: Scope, row: ProvisionRow): Promise<void> {
  const { teamId } = provider
  const userId = row.user_id!
  const lost = await revokeHoldings(trx, teamId, userId)
  await endProofsOf(trx, teamId, userId)
  await deleteMembership(trx, teamId, userId, 'scim')
  await writeAudit(trx, {
    ...author,
    teamId,
    action: 'member.remove',
    target: `member:${row.membership_id!}`,
    before: { user_id: userId, email: row.account_email, roles: row.roles },
    after: { source: 'scim', ...lost },
  })
}

async function joinAll(scope: Scope, planned: readonly Planned[]): Promise<void> {
  const { trx, deps, provider } = scope
  const joining = planned.flatMap(({ row, plan }): JoiningUser[] => {
    if (plan.kind !== 'join') return []
    const { id, email, display_name, given_name, family_name, user_id } = row
    return [{ id, email, display_name, given_name, family_name, user_id, roles: plan.roles }]
  })
  if (joining.length === 0) return
  if ((await countMembers(trx, provider.teamId)) + joining.length > deps.membersPerTeam)
    throw new ScimError('full')
  const joined = await insertMembers(trx, provider, joining)
  await recordJoined(scope, joining, joined)
  // An account that another request has created at the same moment: it is found now.
  const missed = joining.filter(({ id }) => !joined.some((one) => one.id === id))
  if (missed.length > 0)
    await provision(
      trx,
      deps,
      provider,
      scope.author,
      missed.map(({ id }) => id),
    )
}

async function recordJoined(
  { trx, provider: { id: provider, teamId }, author }: Scope,
  joining: readonly JoiningUser[],
  joined: Awaited<ReturnType<typeof insertMembers>>,
): Promise<void> {
  const byId = new Map(joining.map((one) => [one.id, one]))
  const entries = joined.flatMap(({ id, user_id, member_id, is_new }): AuditEntry[] => {
    const { email, roles } = byId.get(id)!
    const join = {
      ...author,
      teamId,
      action: 'member.join',
      target: `member:${member_id}`,
      after: { user_id, email, roles, provider, source: 'scim' },
    }
    if (!is_new) return [join]
    const account = {
      ...author,
      teamId,
      action: 'account.create',
      target: `user:${user_id}`,
      after: { email, provider },
    }
    return [account, join]
  })
  await writeAudit(trx, ...entries)
}
