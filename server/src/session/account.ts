// The user's own account: password, profile, e-mail address and sessions. Password and address require the current
// password. A new address takes effect when the link in the mail to it is followed; the answer does not reveal whether
// another account has it, and the old address is notified immediately.
import type { SessionTokens, User } from '@pharos/contract/session/session'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Trx, Db } from '../db/postgres.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import {
  findAccount,
  lockAccount,
  findUser,
  leavesProvider,
  lockProfile,
  saveProfile,
  type Profile,
  findAccountByEmail,
} from './account.store.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from './new-password.ts'
import { requireUser, userIdOf } from './require-user.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'
import type { SessionDeps } from './refresh.ts'
import { replacePassword } from './replace-password.ts'
import { replaceSessions, sessionOver, type PersonalOperation } from './replace-sessions.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { userEtag } from './tokens.ts'
import { queueMail } from '../mail/mail.ts'
import { parseEmail } from '../text/email.ts'
import { sendConfirmation, type ConfirmDeps } from './confirm-email.ts'
import type { MailLimits } from './mail-limits.ts'
import { deleteMailTokens } from './mail-token.store.ts'
import type { listSessionsRoute, OpenSession } from '@pharos/contract/session/account'
import type { QueryOf } from '@pharos/contract/route'
import { findOwnSessionTeam, listOpenSessions, revokeSession, type OpenSessionRow } from './session.store.ts'

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
  return deps.db.transaction().execute((trx) => applyPassword(trx, deps, operation, before, after))
}

async function applyPassword(
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

/** Omitted fields are unchanged. A patch without a change is not audited. */
export async function updateUser(
  { db }: { readonly db: Db },
  operation: Operation,
  patch: Partial<Profile>,
): Promise<ChangeAnswer<User>> {
  const { userId, teamId } = requireUser(operation)
  return runOwnerChange(db, operation, async (trx) => {
    const before = await lockProfile(trx, userId)
    const seen = before && (await findUser(trx, userId, teamId))
    if (!seen) throw sessionOver()
    requireMatch(operation.ifMatch, `"${userEtag(seen)}"`)
    const after = { ...before, ...patch }
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      await saveProfile(trx, userId, after)
      const entry = { ...auditOf(operation), action: 'user.update', target: `user:${userId}` }
      await writeAudit(trx, { ...entry, before, after })
    }
    const user = await findUser(trx, userId, teamId)
    if (!user) throw sessionOver()
    return { body: user, etag: `"${userEtag(user)}"` }
  })
}

export type ChangeEmailDeps = ConfirmDeps &
  PasswordCheckDeps & { readonly db: Db; readonly mailLimits: MailLimits }

export type ChangeEmail = { readonly email: string; readonly current_password: string }

export async function changeEmail(
  deps: ChangeEmailDeps,
  operation: Operation,
  { email: typed, current_password }: ChangeEmail,
): Promise<void> {
  const userId = userIdOf(operation)
  const email = parseEmail(typed)
  if (email === undefined) throw invalid(['body', 'email'], 'email')
  const passwordHash = await requirePassword(deps, userId, current_password)
  deps.mailLimits.take(operation.address, email)
  await deps.db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, userId)
    if (account?.passwordHash !== passwordHash) throw fail('wrong_password', 'changed')
    if (account.email.toLowerCase() === email.toLowerCase()) throw invalid(['body', 'email'], 'sameEmail')
    if (await leavesProvider(trx, userId, email)) throw invalid(['body', 'email'], 'addressOfProvider')
    // Only the latest requested change is valid.
    await deleteMailTokens(trx, userId, 'confirm-email')
    if (!(await findAccountByEmail(trx, email))) await sendConfirmation(trx, deps, userId, email)
    await notifyOldAddress(trx, deps, operation, account.email, email)
  })
}

async function notifyOldAddress(
  trx: Trx,
  { ring }: ConfirmDeps,
  operation: Operation,
  from: string,
  to: string,
): Promise<void> {
  const content = { to, at: new Date().toISOString(), address: operation.address }
  await queueMail(trx, ring, { to: from, teamId: null, template: 'email-changing', content })
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'email.change',
    target: `user:${userIdOf(operation)}`,
    before: { email: from },
    after: { email: from, requested: to },
  })
}

type Deps = { readonly db: Db }

export async function listOwnSessions(
  { db }: Deps,
  operation: Operation,
  query: QueryOf<typeof listSessionsRoute>,
): Promise<{ results: OpenSession[]; count: number }> {
  const { userId, sessionId } = requireUser(operation)
  const { page, count } = await listOpenSessions(db, userId, query)
  return { results: page.map((row) => present(row, sessionId)), count }
}

function present(row: OpenSessionRow, currentId: string): OpenSession {
  return {
    id: row.id,
    current: row.id === currentId,
    team_id: row.team_id,
    created: row.created.toISOString(),
    last_used: row.last_used.toISOString(),
    expires: row.expires.toISOString(),
    address: row.address ?? '',
    user_agent: row.user_agent ?? '',
  }
}

/** Revokes a session immediately, with its access tokens; the caller's own session is no exception. */
export async function deleteSession(
  { db }: Deps,
  operation: Operation,
  sessionId: string,
): Promise<ChangeAnswer<null>> {
  const { userId } = requireUser(operation)
  return runOwnerChange(db, operation, async (trx) => {
    const teamId = await findOwnSessionTeam(trx, userId, sessionId)
    if (teamId === undefined) throw notFound('session')
    await revokeSession(trx, sessionId, 'revoked')
    const entry = { ...auditOf(operation), teamId, action: 'session.revoke', target: `session:${sessionId}` }
    await writeAudit(trx, entry)
    return { body: null }
  })
}
