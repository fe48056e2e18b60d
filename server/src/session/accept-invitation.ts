// Becoming a member by the link of an invitation. The link shows that its holder reads the mailbox, and nothing more: it
// makes an account where there is none, and opens no session, so that a second factor is asked for as ever.
import type { AcceptedInvitation, Invitation } from '@pharos/contract/invitation'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { invalid } from '../runtime/error.ts'
import type { RateLimiter } from '../runtime/rate-limit.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { findInvitation, holdInvitation, joinTeam, type SentInvitation } from '../team/invitation.ts'
import { insertAccount } from './accept-invitation.store.ts'
import { confirmAddress, findAccountByEmail } from './account.store.ts'
import { invalidToken } from './mail-token.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import type { Origin } from './visitor.ts'

export type InvitationDeps = NewPasswordDeps & {
  readonly db: Db
  readonly ring: KeyRing
  /** Links that are followed, counted for each address. */
  readonly followed: RateLimiter
}

/** What the holder of the link is invited to; `invalid_token` where it is good for nothing any more. */
export async function showInvitation(
  deps: InvitationDeps,
  { address }: Origin,
  { token }: { readonly token: string },
): Promise<Invitation> {
  deps.followed.take(`address ${address}`)
  const invitation = await findInvitation(deps.db, deps.ring, token)
  if (!invitation || invitation.acceptedBy !== null) throw invalidToken()
  const account = await findAccountByEmail(deps.db, invitation.email)
  return {
    email: invitation.email,
    team_name: invitation.teamName,
    invited_by: invitation.inviterName,
    is_admin: invitation.isAdmin,
    expires: invitation.expires.toISOString(),
    has_account: account !== undefined,
  }
}

export type Acceptance = {
  readonly token: string
  readonly password?: string
  readonly first_name?: string
  readonly last_name?: string
}

/** The same token again, until it would have run out, is answered the same and changes nothing. */
export async function acceptInvitation(
  deps: InvitationDeps,
  origin: Origin,
  acceptance: Acceptance,
): Promise<AcceptedInvitation> {
  deps.followed.take(`address ${origin.address}`)
  const invitation = await findInvitation(deps.db, deps.ring, acceptance.token)
  if (!invitation) throw invalidToken()
  if (invitation.acceptedBy !== null) return answerOf(invitation, invitation.accountCreated)
  // Before the invitation is locked: a hash takes its time, and its turn.
  const passwordHash = await hashForNew(deps, invitation, acceptance.password)
  return deps.db.transaction().execute(async (trx) => {
    const held = await holdInvitation(trx, deps.ring, acceptance.token)
    if (!held) throw invalidToken()
    if (held.acceptedBy !== null) return answerOf(held, held.accountCreated)
    const { userId, accountCreated } = await findOrMakeAccount(trx, held, acceptance, passwordHash)
    await confirmAddress(trx, userId)
    if (accountCreated) await recordAccount(trx, origin, held, userId)
    await joinTeam(trx, held, { userId, accountCreated, ...origin })
    return answerOf(held, accountCreated)
  })
}

/** Undefined where there is an account already: what was sent as its password is not looked at. */
async function hashForNew(
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

async function findOrMakeAccount(
  trx: Trx,
  { email }: SentInvitation,
  { first_name: firstName = '', last_name: lastName = '' }: Acceptance,
  passwordHash: string | undefined,
): Promise<{ userId: number; accountCreated: boolean }> {
  const made =
    passwordHash === undefined
      ? undefined
      : await insertAccount(trx, { email, passwordHash, firstName, lastName })
  if (made !== undefined) return { userId: made, accountCreated: true }
  const account = await findAccountByEmail(trx, email)
  // There was one a moment ago, and it is gone or has another address now.
  if (!account) throw passwordMissing()
  return { userId: account.id, accountCreated: false }
}

async function recordAccount(
  trx: Trx,
  { requestId, address }: Origin,
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
