// Resets the password of a user with access to the account's mailbox. Neither the answer nor its duration reveals whether
// the account exists: the account is looked up after the answer.
import type { Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { PostResponseTasks } from '../runtime/post-response-tasks.ts'
import { confirmAddress, findAccountByEmail, lockAccount } from './account.store.ts'
import { clearFailures } from './attempt.ts'
import type { ConfirmDeps } from './confirm-email.ts'
import type { MailLimits } from './mail-limits.ts'
import { createMailToken, invalidToken, mailTokenMinutes, requireMailToken } from './mail-token.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import { replacePassword } from './replace-password.ts'
import { findHomeTeam, revokeAllSessions } from './session.store.ts'
import { canonicalEmail } from './canonical-email.ts'
import type { RequestSource } from './request-source.ts'

export type PasswordResetDeps = ConfirmDeps &
  NewPasswordDeps & { readonly mailLimits: MailLimits; readonly tasks: PostResponseTasks }

/** Sends the link, after the answer, if the account exists. */
export function requestPasswordReset(
  deps: PasswordResetDeps,
  source: RequestSource,
  body: { readonly email: string },
): void {
  const email = canonicalEmail(body.email)
  deps.mailLimits.take(source.address, email)
  deps.tasks.later(async () => {
    const account = await findAccountByEmail(deps.db, email)
    if (account) await deps.db.transaction().execute((trx) => sendReset(trx, deps, account.id))
  })
}

async function sendReset(trx: Trx, { ring, publicUrl }: ConfirmDeps, userId: number): Promise<void> {
  const account = await lockAccount(trx, userId)
  if (!account) return
  const token = await createMailToken(trx, ring, 'password-reset', userId, account.email)
  const content = {
    link: `${publicUrl}/reset-password#${token}`,
    minutes: mailTokenMinutes['password-reset'],
  }
  await queueMail(trx, ring, { to: account.email, teamId: null, template: 'password-reset', content })
}

export type PasswordReset = { readonly token: string; readonly new_password: string }

/** Creates no session and keeps the second factor. The password is hashed only after the token was found valid. */
export async function resetPassword(
  deps: PasswordResetDeps,
  source: RequestSource,
  { token, new_password }: PasswordReset,
): Promise<{ email: string }> {
  const { userId, email } = await requireMailToken(deps.db, deps.ring, 'password-reset', token)
  await checkNewPassword(deps, email, new_password)
  const passwordHash = await hashNewPassword(deps, new_password)
  return deps.db.transaction().execute((trx) => reset(trx, deps, source, { token, userId, passwordHash }))
}

type NewHash = { readonly token: string; readonly userId: number; readonly passwordHash: string }

async function reset(
  trx: Trx,
  { ring }: PasswordResetDeps,
  { requestId, address }: RequestSource,
  { token, userId, passwordHash }: NewHash,
): Promise<{ email: string }> {
  const account = await lockAccount(trx, userId)
  // Checked again under the lock: of two concurrent requests only the first succeeds.
  await requireMailToken(trx, ring, 'password-reset', token)
  if (!account) throw invalidToken()
  await revokeAllSessions(trx, userId, 'password')
  await replacePassword(trx, ring, account, passwordHash, {
    teamId: await findHomeTeam(trx, userId),
    actor: `user:${userId}`,
    byStaff: account.isStaff,
    action: 'password.reset',
    requestId,
    address,
  })
  await confirmAddress(trx, userId)
  await clearFailures(trx, ring, account.email)
  return { email: account.email }
}
