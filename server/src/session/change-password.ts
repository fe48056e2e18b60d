// Changes the user's password, which requires the current one. Revokes every session and deletes the mail tokens of the account.
import type { SessionTokens } from '@pharos/contract/session/session'
import { auditOf } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { fail, invalid } from '../runtime/error.ts'
import { findAccount, lockAccount } from './account.store.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import { requireUser } from './require-user.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'
import type { SessionDeps } from './refresh.ts'
import { replacePassword } from './replace-password.ts'
import { replaceSessions, sessionOver, type PersonalOperation } from './replace-sessions.ts'

export type ChangePasswordDeps = SessionDeps & PasswordCheckDeps & NewPasswordDeps

export type ChangePassword = { readonly current_password: string; readonly new_password: string }

/** Revokes every session of the user, the caller's included, and returns the tokens of a new one. */
export async function changePassword(
  deps: ChangePasswordDeps,
  operation: PersonalOperation,
  { current_password, new_password }: ChangePassword,
): Promise<SessionTokens> {
  const { userId } = requireUser(operation)
  const account = await findAccount(deps.db, userId)
  if (!account) throw sessionOver()
  if (current_password === new_password) throw invalid(['body', 'new_password'], 'samePassword')
  await checkNewPassword(deps, account.email, new_password)
  const before = await requirePassword(deps, userId, current_password)
  const after = await hashNewPassword(deps, new_password)
  return deps.db.transaction().execute((trx) => change(trx, deps, operation, before, after))
}

async function change(
  trx: Trx,
  deps: ChangePasswordDeps,
  operation: PersonalOperation,
  before: string,
  after: string,
): Promise<SessionTokens> {
  const account = await lockAccount(trx, requireUser(operation).userId)
  if (account?.passwordHash !== before) throw fail('wrong_password', 'changed')
  const replacement = { reason: 'password', secondFactor: null } as const
  const { sessionId, tokens } = await replaceSessions(trx, deps, operation, replacement)
  const entry = { ...auditOf(operation), action: 'password.change', after: { session: sessionId } }
  await replacePassword(trx, deps.ring, account, after, entry)
  return tokens
}
