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
import { findSession, renewNewest } from './session.store.ts'
import { issueTokens, type Holder } from './tokens.ts'

export type ChangePasswordDeps = RefreshDeps & PasswordCheckDeps & NewPasswordDeps

export type ChangePassword = { readonly current_password: string; readonly new_password: string }

/** The caller's session goes on with the tokens that are answered; every other one of the user is over. */
export async function changePassword(
  deps: ChangePasswordDeps,
  operation: Operation,
  { current_password, new_password }: ChangePassword,
): Promise<SessionTokens> {
  const { userId } = personOf(operation)
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
  return issueTokens(deps, holder, counter)
}

async function change(
  trx: Trx,
  deps: ChangePasswordDeps,
  operation: Operation,
  before: string,
  after: string,
): Promise<{ counter: number; holder: Holder }> {
  const { userId, sessionId } = personOf(operation)
  const account = await lockAccount(trx, userId)
  if (account?.passwordHash !== before)
    throw new Failure('wrong_password', 'The current password is wrong: it has just been changed.')
  const entry = { ...auditOf(operation), action: 'password.change' }
  await replacePassword(trx, deps.ring, account, after, entry, sessionId)
  return getSession(trx, personOf(operation))
}

/**
 * The session with the number of its newest refresh token, which is not rotated: an answer that is lost must not put the
 * tabs behind by one more. Its access tokens are over, so that whoever has one of them asks for the newest, too.
 */
async function getSession(trx: Trx, { sessionId }: UserActor) {
  const counter = await renewNewest(trx, sessionId)
  const session = await findSession(trx, sessionId)
  if (counter === undefined || !session?.profile) throw sessionOver()
  const { userId, teamId, sessionVersion, profile } = session
  return { holder: { sessionId, userId, teamId, sessionVersion, profile }, counter }
}

const sessionOver = () => new Failure('unauthenticated', 'The session is over; sign in again.')
