// Invites members by mail. A user becomes a member only by following the link, and the answer is the same whether or not an
// account has the address.
import type { Member } from '@pharos/contract/team/member'
import { orderedRoles, type Role } from '@pharos/contract/role'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import { parseEmail } from '../text/email.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { actorName, type AnyActor, type Operation, type StaffOperation } from '../operation/operation.ts'
import type { RateLimiter } from '../runtime/rate-limit.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { createInvitationToken, formatInvitationToken, invitationMac } from './invitation-token.ts'
import {
  findInviter,
  findOpenInvitation,
  findTokenCreator,
  insertInvitation,
  invitationDays,
  nextMemberId,
  renewInvitation,
  secondsUntilResend,
  type NewInvitation,
  findInvitedSignIn,
} from './invitation.store.ts'
import { presentMember } from './member.ts'
import { countMembers, isMemberAddress, readMember } from './member.store.ts'
import { chosenRoles, refuseBothForms, type ChosenRoles } from './chosen-roles.ts'
import { getTeamAccess, operationIn, requireTeamGrant } from './team-access.ts'
import { lockTeamRow } from './team-lock.store.ts'
import { lockTeam, type LockedTeam } from './team-lock.ts'
import type { TeamDeps } from './team.ts'

export type InviteDeps = TeamDeps & {
  readonly ring: KeyRing
  /** The web application's URL, without a trailing slash. */
  readonly publicUrl: string
  readonly providerName: string
  /** Maximum number of members and open invitations of one team. */
  readonly quota: number
  /** Minimum time between two mails of one invitation. */
  readonly intervalSeconds: number
  /** Limits new invitations per team and address: deleting an invitation does not shorten the interval. */
  readonly mailsFromTeamTo: RateLimiter
  /** Limits invitation mails per address: the recipient may not be a user of this installation. */
  readonly mailsTo: RateLimiter
  /** Limits invitation mails per team. */
  readonly mailsOfTeam: RateLimiter
}

export type Invitee = ChosenRoles & { readonly email: string; readonly message?: string }

type Invited = {
  readonly email: string
  readonly roles: readonly Role[]
  readonly message?: string | undefined
  /** The inviter in the mail; by default the person or the team. */
  readonly from?: string
}

type InvitingTeam = { readonly name: string; readonly access: Pick<LockedTeam['access'], 'teamId'> }

/**
 * Sends an invitation. An open invitation of the address is returned unchanged, with the status 200 and without a mail.
 * Throws `already_member`, `quota_exceeded` and `rate_limited`.
 */
export async function inviteMember(
  deps: InviteDeps,
  operation: Operation,
  named: string,
  invitee: Invitee,
): Promise<ChangeAnswer<Member>> {
  refuseBothForms(invitee)
  const entered = await getTeamAccess(deps.db, operation, named, 'team.manage')
  const email = parseEmail(invitee.email)
  if (email === undefined) throw invalid(['body', 'email'], 'email')
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const team = await lockTeam(trx, operation, entered)
    requireTeamGrant(team.access, 'team.manage')
    const { teamId } = team.access
    if (await isMemberAddress(trx, teamId, email)) throw fail('already_member', 'member', { email })
    const open = await findOpenInvitation(trx, teamId, email)
    const id = open ?? (await invite(trx, deps, inTeam, team, { ...invitee, email }))
    const answer = presentMember((await readMember(trx, teamId, id))!)
    return open === undefined ? answer : { ...answer, status: 200 }
  })
}

/** Sends an open invitation again, with a new link and a new lifetime. Throws `already_member` and `rate_limited`. */
export async function resendInvitation(
  deps: InviteDeps,
  operation: Operation,
  named: string,
  id: number,
): Promise<ChangeAnswer<Member>> {
  const entered = await getTeamAccess(deps.db, operation, named, 'team.see')
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const team = await lockTeam(trx, operation, entered)
    const { teamId } = team.access
    const member = await readMember(trx, teamId, id)
    if (!member) throw notFound('member')
    requireTeamGrant(team.access, 'team.manage')
    const { email, roles } = member
    if (member.status === 'active') throw fail('already_member', 'joined', { email })
    const seconds = await secondsUntilResend(trx, teamId, id, deps.intervalSeconds)
    if (seconds > 0)
      throw fail('rate_limited', 'invitation', { email, seconds }, { retryAfterSeconds: seconds })
    takeMailLimits(deps, teamId, email)
    await send(trx, deps, inTeam, team, id, { email, roles: orderedRoles(roles) }, true)
    return presentMember((await readMember(trx, teamId, id))!)
  })
}

/** Invites the first member of a team, as the provider. Throws `conflict` for a team with members or another invitation. */
export function inviteFirstAdmin(
  deps: InviteDeps,
  operation: StaffOperation,
  teamId: number,
  invitee: { readonly email: string },
): Promise<ChangeAnswer<Member>> {
  const email = parseEmail(invitee.email)
  if (email === undefined) throw invalid(['body', 'email'], 'email')
  return runOwnerChange(deps.db, operation, async (trx) => {
    const row = await lockTeamRow(trx, teamId)
    if (!row) throw notFound('team')
    const open = await findOpenInvitation(trx, teamId, email)
    if (open === undefined && (await countMembers(trx, teamId)) > 0) throw fail('conflict', 'teamHasMembers')
    const team = { name: row.name, access: { teamId } }
    const from = deps.providerName
    const id = open ?? (await invite(trx, deps, operation, team, { email, roles: ['admin'], from }))
    const answer = presentMember((await readMember(trx, teamId, id))!)
    return open === undefined ? answer : { ...answer, status: 200 }
  })
}

async function invite(
  trx: Trx,
  deps: InviteDeps,
  operation: Operation<AnyActor>,
  team: InvitingTeam,
  invitee: Invitee & Pick<Invited, 'from'>,
): Promise<number> {
  const { teamId } = team.access
  const { email } = invitee
  await requireRoom(trx, teamId, deps.quota)
  // Last, so that refused requests do not count; the address first, since its limit is the lower one.
  if (!operation.dryRun) {
    deps.mailsFromTeamTo.take(`${teamId} ${email.toLowerCase()}`)
    takeMailLimits(deps, teamId, email)
  }
  const id = await nextMemberId(trx)
  const roles = await chosenRoles(trx, teamId, invitee)
  await send(trx, deps, operation, team, id, { ...invitee, email, roles }, false)
  return id
}

function takeMailLimits({ mailsTo, mailsOfTeam }: InviteDeps, teamId: number, email: string): void {
  mailsTo.take(email.toLowerCase())
  mailsOfTeam.take(`team ${teamId}`)
}

async function requireRoom(trx: Trx, teamId: number, quota: number): Promise<void> {
  if ((await countMembers(trx, teamId)) < quota) return
  throw fail('quota_exceeded', 'members', { limit: quota })
}

async function send(
  trx: Trx,
  { ring, publicUrl, providerName }: InviteDeps,
  operation: Operation<AnyActor>,
  { name: team, access: { teamId } }: InvitingTeam,
  id: number,
  { email, roles, message = '', from }: Invited,
  isAgain: boolean,
): Promise<void> {
  const token = createInvitationToken(id)
  const { actor } = operation
  // The team does not read the name of an employee.
  const invitedBy = from === undefined ? await invitingUser(trx, teamId, actor) : null
  const inviterName = from ?? (await nameOf(trx, actor, team, providerName))
  const invitation: NewInvitation = {
    id,
    teamId,
    email,
    roles,
    tokenMac: invitationMac(ring, token),
    invitedBy,
    inviter: actorName(actor),
    inviterName,
  }
  await (isAgain ? renewInvitation : insertInvitation)(trx, invitation)
  const link = `${publicUrl}/invitation#${formatInvitationToken(token)}`
  const provider = (await findInvitedSignIn(trx, teamId, email))?.name ?? null
  const content = { link, days: invitationDays, team, invitedBy: inviterName, roles, message, provider }
  await queueMail(trx, ring, { to: email, teamId, template: 'invitation', content })
  await writeAudit(trx, {
    ...auditOf(operation),
    teamId,
    action: 'member.invite',
    target: `member:${id}`,
    after: { email, roles, again: isAgain },
  })
}

function invitingUser(trx: Trx, teamId: number, actor: AnyActor): Promise<number | null> | number | null {
  if (actor.kind === 'staff_token') return null
  return actor.kind === 'user' ? actor.userId : findTokenCreator(trx, teamId, actor.tokenId)
}

/** Returns the inviter's name for the mail: name and address of a member, the provider for staff, the team for an API token. */
async function nameOf(trx: Trx, actor: AnyActor, team: string, providerName: string): Promise<string> {
  if (actor.kind === 'token') return team
  if (actor.kind === 'staff_token') return providerName
  const user = await findInviter(trx, actor.userId)
  if (!user) return providerName
  return user.displayName === '' ? user.email : `${user.displayName} (${user.email})`
}
