// Changing one's password, for whoever knows the current one. All else that could speak for the account ends with it.
import type { SessionTokens } from '@pharos/contract/session'
import { auditOf } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { Failure, invalid } from '../runtime/error.ts'
import type { Operation, UserActor } from '../runtime/operation.ts'
import { findAccount, lockAccount } from './account.store.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import { personOf } from './own-account.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'
import type { RefreshDeps } from './refresh.ts'
import { replacePassword } from './replace-password.ts'
import { lockCounter, rotateSession, type SessionHolder } from './session.store.ts'
import { issueTokens } from './tokens.ts'

export type ChangePasswordDeps = RefreshDeps & PasswordCheckDeps & NewPasswordDeps

export type ChangePassword = { readonly current_password: string; readonly new_password: string }

/** The caller's session goes on with the tokens that are answered; every other one of the user is over. */
export async function changePassword(
  deps: ChangePasswordDeps,
  operation: Operation,
  { current_password, new_password }: ChangePassword,
): Promise<SessionTokens> {
  const { userId, sessionId } = personOf(operation)
  const account = await findAccount(deps.db, userId)
  if (!account) throw sessionOver()
  if (current_password === new_password)
    throw invalid(['body', 'new_password'], 'is the current password; take another one', 'same')
  await checkNewPassword(deps, account.email, new_password)
  const before = await requirePassword(deps, userId, current_password)
  const after = await hashNewPassword(deps, new_password)
  const { counter, holder } = await deps.db
    .transaction()
    .execute((trx) => change(trx, deps, operation, before, after))
  return issueTokens(deps, { ...holder, sessionId }, counter)
}

async function change(
  trx: Trx,
  deps: ChangePasswordDeps,
  operation: Operation,
  before: string,
  after: string,
): Promise<{ counter: number; holder: SessionHolder }> {
  const { userId, sessionId } = personOf(operation)
  const account = await lockAccount(trx, userId)
  if (account?.passwordHash !== before)
    throw new Failure('wrong_password', 'The current password is wrong: it has just been changed.')
  const entry = { ...auditOf(operation), action: 'password.change' }
  await replacePassword(trx, deps.ring, account, after, entry, sessionId)
  return renewSession(trx, deps, personOf(operation))
}

async function renewSession(trx: Trx, deps: ChangePasswordDeps, { sessionId }: UserActor) {
  const counter = await lockCounter(trx, sessionId)
  const holder =
    counter === undefined ? undefined : await rotateSession(trx, sessionId, counter, deps.lifetime)
  if (counter === undefined || !holder) throw sessionOver()
  return { counter: counter + 1, holder }
}

const sessionOver = () => new Failure('unauthenticated', 'The session is over; sign in again.')
