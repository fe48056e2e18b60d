// From an assertion to an account and its roles in the team: reads the facts, decides (link.ts, mapping.ts), and applies the decision.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { confirmAddress } from '../session/account.store.ts'
import type { MailLimits } from '../session/mail-limits.ts'
import type { RequestSource } from '../session/request-source.ts'
import { lockUser } from '../session/session.store.ts'
import { parseEmail } from '../text/email.ts'
import { domainOfEmail } from '../team/domain-name.ts'
import { demoteHoldings } from '../team/holdings.ts'
import { joinTeam } from '../team/invitation.ts'
import { findOpenInvitation, findSentInvitation, lockInvitation } from '../team/invitation.store.ts'
import { lockTeamRow } from '../team/team-lock.store.ts'
import { createState, linkHours, saveFlow } from './flow.ts'
import {
  findAddress,
  insertPasswordlessAccount,
  insertProvided,
  readLinkFacts,
  readMemberFacts,
  saveIdentity,
  saveIdentityUse,
  saveProvidedRoles,
  type MemberRecord,
} from './identity.store.ts'
import { SignInFailure, type Assertion } from './identity-provider.ts'
import { decideLink, type LinkDecision } from './link.ts'
import { planMembership, type MembershipChange } from './mapping.ts'
import type { SignInProvider } from './provider.store.ts'

export type LinkingDeps = {
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly membersPerTeam: number
}

export type StatedAddress = { readonly email: string | null; readonly domain: string | null }

/** The address in the spelling of accounts, with its domain in that of the domains of teams. Text that is no address counts as none. */
export function addressOf({ email }: Pick<Assertion, 'email'>): StatedAddress {
  const canonical = email === null ? undefined : parseEmail(email)
  const domain = canonical === undefined ? undefined : domainOfEmail(canonical)
  return { email: canonical ?? null, domain: domain ?? null }
}

export type FoundAccount = {
  readonly decision: Exclude<LinkDecision, { kind: 'refuse' }>
  readonly member: MemberRecord
  readonly invitationId: number | undefined
  readonly membership: Exclude<MembershipChange, { kind: 'refuse' }>
  /** Canonical; null for a known identity without an address. */
  readonly email: string | null
}

/** Throws SignInFailure if no rule admits the person. `ask` is a decision: the caller sends the mail. */
export async function findPerson(
  db: Db | Trx,
  provider: SignInProvider,
  assertion: Assertion,
): Promise<FoundAccount> {
  const failure = (reason: SignInFailure['reason']) => new SignInFailure(reason, { claims: assertion.claims })
  const address = addressOf(assertion)
  const { email } = address
  const found = await readLinkFacts(db, provider, assertion.subject, address)
  const stated = email === null ? 'missing' : assertion.emailVerified === false ? 'unverified' : 'stated'
  const { identity, account, is_domain_bound: isDomainBound } = found
  const decision = decideLink({ identity, account, isDomainBound, email: stated })
  if (decision.kind === 'refuse') throw failure(decision.reason)
  const userId = 'userId' in decision ? decision.userId : null
  const member = await readMemberFacts(db, provider.teamId, userId)
  // To the address of the account, not to any that the provider may state of a known subject, which may be that of a colleague.
  const mayAccept = isDomainBound && stated === 'stated' && (userId === null || account?.id === userId)
  const invitationId = mayAccept ? await findInvitedBy(db, provider.teamId, email!) : undefined
  const isInvited = invitationId !== undefined
  const membership = planMembership(provider, assertion.groups, {
    ...member,
    isInvited,
    isProvisioned: provider.isProvisioned,
  })
  if (membership.kind === 'refuse') throw failure(membership.reason)
  return { decision, member, invitationId, membership, email }
}

/** Returns the open invitation of the address, whose sender may still invite. */
async function findInvitedBy(db: Db | Trx, teamId: number, email: string): Promise<number | undefined> {
  const id = await findOpenInvitation(db, teamId, email)
  return id === undefined ? undefined : (await findSentInvitation(db, id))?.id
}

/** Applies the decision, and returns the account, which is locked. Runs in the transaction that opens the session. */
export async function applyAccount(
  trx: Trx,
  deps: LinkingDeps,
  source: RequestSource,
  provider: SignInProvider,
  assertion: Assertion,
): Promise<number> {
  await lockTeamRow(trx, provider.teamId)
  const found = await findPerson(trx, provider, assertion)
  const { decision, email } = found
  if (decision.kind === 'ask') throw new SignInFailure('linked_elsewhere', { claims: assertion.claims })
  const userId =
    decision.kind === 'create'
      ? await createAccount(trx, source, provider, assertion, email!)
      : decision.userId
  // An invitation was accepted at the same moment: the account exists now.
  if (userId === undefined) return applyAccount(trx, deps, source, provider, assertion)
  // Deleted at the same moment.
  if (!(await lockUser(trx, userId))) throw new SignInFailure('expired', { claims: assertion.claims })
  await applyMembership(trx, deps, source, provider, assertion, userId, found)
  if (decision.kind !== 'known')
    await linkAccount(trx, deps, source, provider, { subject: assertion.subject, userId, email: email! })
  await saveIdentityUse(trx, provider.id, assertion.subject)
  return userId
}

/** Returns undefined if the account was created concurrently. */
async function createAccount(
  trx: Trx,
  { requestId, address }: RequestSource,
  provider: SignInProvider,
  { names: { first, last, display } }: Assertion,
  email: string,
): Promise<number | undefined> {
  const displayName = display || [first, last].filter(Boolean).join(' ')
  const account = { email, firstName: first, lastName: last, displayName }
  const userId = await insertPasswordlessAccount(trx, account)
  if (userId === undefined) return undefined
  await writeAudit(trx, {
    teamId: provider.teamId,
    actor: `user:${userId}`,
    action: 'account.create',
    target: `user:${userId}`,
    after: { email, provider: provider.id },
    requestId,
    address,
  })
  return userId
}

async function applyMembership(
  trx: Trx,
  { membersPerTeam }: LinkingDeps,
  { requestId, address }: RequestSource,
  { id, teamId }: SignInProvider,
  { claims }: Assertion,
  userId: number,
  { decision, member, invitationId, membership, email }: FoundAccount,
): Promise<void> {
  if (membership.kind === 'keep') return
  if (membership.kind === 'invited') {
    await lockInvitation(trx, invitationId!)
    const invitation = await findSentInvitation(trx, invitationId!)
    // Withdrawn at the same moment.
    if (!invitation || invitation.acceptedBy !== null) throw new SignInFailure('not_assigned', { claims })
    const accountCreated = decision.kind === 'create'
    return joinTeam(trx, invitation, { userId, accountCreated, requestId, address })
  }
  const { roles } = membership
  const by = { teamId, actor: `user:${userId}`, requestId, address }
  if (membership.kind === 'join') {
    const memberId = await insertProvided(trx, { teamId, userId, roles, membersMax: membersPerTeam })
    if (memberId === undefined) throw new SignInFailure('not_assigned', { claims })
    const after = { user_id: userId, email, roles, provider: id }
    return writeAudit(trx, { ...by, action: 'member.join', target: `member:${memberId}`, after })
  }
  const before = member.roles!
  await saveProvidedRoles(trx, teamId, member.memberId!, roles)
  const lost = await demoteHoldings(trx, teamId, userId, before, roles)
  await writeAudit(trx, {
    ...by,
    action: 'member.update',
    target: `member:${member.memberId!}`,
    before: { roles: before },
    after: { roles, provider: id, ...lost },
  })
}

type Link = { readonly subject: string; readonly userId: number; readonly email: string }

/** The owner of the account is told: the admin of the team's provider could have made the provider state the address. */
export async function linkAccount(
  trx: Trx,
  { ring }: LinkingDeps,
  { requestId, address }: RequestSource,
  { id, name, teamId, teamName }: SignInProvider,
  { subject, userId, email }: Link,
): Promise<void> {
  await saveIdentity(trx, { providerId: id, subject, userId, email })
  await confirmAddress(trx, userId)
  const account = await findAddress(trx, userId)
  await writeAudit(trx, {
    teamId,
    actor: `user:${userId}`,
    action: 'identity.link',
    target: `user:${userId}`,
    after: { provider: id, email },
    requestId,
    address,
  })
  const content = { team: teamName, provider: name, at: new Date().toISOString(), address }
  await queueMail(trx, ring, { to: account!.email, teamId: null, template: 'identity-linked', content })
}

/** Sends the link that the owner of the mailbox follows to link the account. Throws `rate_limited`. */
export async function askOwner(
  db: Db,
  { ring, publicUrl, mailLimits }: LinkingDeps & { readonly mailLimits: MailLimits },
  { address }: RequestSource,
  provider: SignInProvider,
  { subject, userId, email }: Link,
): Promise<void> {
  mailLimits.take(address, email)
  const state = createState()
  await db.transaction().execute(async (trx) => {
    const content = { subject, userId, email }
    await saveFlow(trx, ring, { kind: 'link', state, providerId: provider.id, content, cookie: null })
    await queueMail(trx, ring, {
      to: email,
      teamId: null,
      template: 'link-account',
      content: {
        link: `${publicUrl}/link-account#${state}`,
        hours: linkHours,
        team: provider.teamName,
        provider: provider.name,
      },
    })
  })
}
