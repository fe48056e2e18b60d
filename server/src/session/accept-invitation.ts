// Accepts the invitation of a link. The link proves only access to the mailbox: an account is created if it does not
// exist, but no session, so that signing in still requires the second factor.
import { orderedRoles } from '@pharos/contract/role'
import type { AcceptedInvitation, Invitation } from '@pharos/contract/session/invitation'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { invalid } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { findInvitation, findInvitationForUpdate, joinTeam, type SentInvitation } from '../team/invitation.ts'
import { insertAccount } from './accept-invitation.store.ts'
import { confirmAddress, findAccountByEmail } from './account.store.ts'
import { invalidToken } from './mail-token.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import type { RequestSource } from './request-source.ts'

export type InvitationDeps = NewPasswordDeps & {
  readonly db: Db
  readonly ring: KeyRing
  /** Limits requests with a link. */
  readonly followed: ClientLimiter
}

/** Returns the invitation of the link. Throws `invalid_token` if the link is not valid or was used. */
export async function showInvitation(
  deps: InvitationDeps,
  { address }: RequestSource,
  { token }: { readonly token: string },
): Promise<Invitation> {
  deps.followed.take(address)
  const invitation = await findInvitation(deps.db, deps.ring, token)
  if (!invitation || invitation.acceptedBy !== null) throw invalidToken()
  const account = await findAccountByEmail(deps.db, invitation.email)
  return {
    email: invitation.email,
    team_name: invitation.teamName,
    invited_by: invitation.inviterName,
    is_admin: invitation.roles.includes('admin'),
    roles: orderedRoles(invitation.roles),
    expires: invitation.expires.toISOString(),
    has_account: account !== undefined,
    sso: invitation.sso && { provider: invitation.sso.provider, required: invitation.sso.required },
  }
}

export type Acceptance = {
  readonly token: string
  readonly password?: string
  readonly first_name?: string
  readonly last_name?: string
}

/**
 * Accepts the invitation. Until it expires, a repeated request with the same token returns the same result without an
 * effect.
 */
export async function acceptInvitation(
  deps: InvitationDeps,
  source: RequestSource,
  acceptance: Acceptance,
): Promise<AcceptedInvitation> {
  deps.followed.take(source.address)
  const invitation = await findInvitation(deps.db, deps.ring, acceptance.token)
  if (!invitation) throw invalidToken()
  if (invitation.acceptedBy !== null) return answerOf(invitation, invitation.accountCreated)
  // Before the invitation is locked: hashing is slow and may have to wait in a queue.
  const passwordHash = await hashNewAccountPassword(deps, invitation, acceptance.password)
  return deps.db.transaction().execute(async (trx) => {
    const held = await findInvitationForUpdate(trx, deps.ring, acceptance.token)
    if (!held) throw invalidToken()
    if (held.acceptedBy !== null) return answerOf(held, held.accountCreated)
    const { userId, accountCreated } = await findOrCreateAccount(trx, held, acceptance, passwordHash)
    await confirmAddress(trx, userId)
    if (accountCreated) await recordAccount(trx, source, held, userId)
    await joinTeam(trx, held, { userId, accountCreated, ...source })
    return answerOf(held, accountCreated)
  })
}

/** Returns undefined if the account exists already: a password in the request is then ignored. */
async function hashNewAccountPassword(
  deps: InvitationDeps,
  { email }: SentInvitation,
  password: string | undefined,
): Promise<string | undefined> {
  if (await findAccountByEmail(deps.db, email)) return undefined
  if (password === undefined) throw passwordMissing()
  await checkNewPassword(deps, email, password, ['body', 'password'])
  return hashNewPassword(deps, password)
}

const passwordMissing = () => invalid(['body', 'password'], 'accountPassword')

async function findOrCreateAccount(
  trx: Trx,
  { email }: SentInvitation,
  { first_name: firstName = '', last_name: lastName = '' }: Acceptance,
  passwordHash: string | undefined,
): Promise<{ userId: number; accountCreated: boolean }> {
  const createdId =
    passwordHash === undefined
      ? undefined
      : await insertAccount(trx, { email, passwordHash, firstName, lastName })
  if (createdId !== undefined) return { userId: createdId, accountCreated: true }
  const account = await findAccountByEmail(trx, email)
  // The account existed a moment ago; it was deleted or its address changed since.
  if (!account) throw passwordMissing()
  return { userId: account.id, accountCreated: false }
}

async function recordAccount(
  trx: Trx,
  { requestId, address }: RequestSource,
  { teamId, email }: SentInvitation,
  userId: number,
): Promise<void> {
  await writeAudit(trx, {
    teamId,
    actor: `user:${userId}`,
    action: 'account.create',
    target: `user:${userId}`,
    after: { email },
    requestId,
    address,
  })
}

const answerOf = (
  { email, teamId, teamName }: SentInvitation,
  accountCreated: boolean,
): AcceptedInvitation => ({
  email,
  team_id: teamId,
  team_name: teamName,
  account_created: accountCreated,
})
