// Signing in with e-mail and password, and going on in another team.
import type { SessionTokens } from '@pharos/contract/session'
import { auditOfActor, writeAudit, type ReportRefusal } from '../db/audit.ts'
import { fail, notFound, Failure } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import { joinByDomain } from '../team/auto-join.ts'
import { beginAttempt, type Attempt, type AttemptDeps } from './attempt.ts'
import { remindToConfirm, type JoinDeps } from './confirm-email.ts'
import { refuseDemoElsewhere } from './demo.ts'
import { verifyPassword } from './password.ts'
import { spendCode, type CodeVerdict } from './second-factor-check.ts'
import type { RefreshDeps } from './refresh.ts'
import {
  findSession,
  findSignInAccount,
  insertSession,
  switchTeam,
  type SignInAccount,
} from './session.store.ts'
import { issueTokens } from './tokens.ts'
import { typedEmail } from './typed-email.ts'
import type { Origin, Visitor } from './visitor.ts'

export type SignInDeps = RefreshDeps &
  AttemptDeps &
  JoinDeps & { readonly hashing: Semaphore; readonly reportRefusal: ReportRefusal }

/** Tokens of a new session. The same error, after the same work, for a wrong password and an unknown account. */
export async function signIn(
  deps: SignInDeps,
  visitor: Visitor,
  { email: typed, password, otp }: { email: string; password: string; otp?: string },
): Promise<SessionTokens> {
  const email = typedEmail(typed)
  // Before the hash: a refused attempt must cost us nothing. And one that would find no room costs not even a query.
  deps.hashing.requireRoom()
  const attempt = await beginAttempt(deps, email, visitor.address)
  const account = await verifiedAccount(deps, visitor, attempt, email, password)
  // Only who knows the password learns whether there is a second factor.
  const factor = await passSecondFactor(deps, visitor, attempt, account, otp)
  await attempt.succeeded()
  return openSession(deps, visitor, account, factor)
}

async function verifiedAccount(
  deps: SignInDeps,
  visitor: Visitor,
  attempt: Attempt,
  email: string,
  password: string,
): Promise<SignInAccount> {
  const account = await findSignInAccount(deps.db, email)
  const matches = await verifyPassword(deps.hashing, account?.passwordHash, password).catch(
    // Nothing was compared: there are too many who wait.
    async (error: unknown) => {
      await attempt.undecided()
      throw error
    },
  )
  if (account && matches) return account
  if (account) noteRefused(deps, visitor, account, 'invalid_credentials')
  throw wrongCredentials()
}

const wrongCredentials = () => fail('invalid_credentials', 'signIn')

type PassedFactor = Exclude<CodeVerdict, 'wrong'> | null

/** What stood for the second factor; null for an account that has none, whatever was sent. A wrong code is a failure. */
async function passSecondFactor(
  deps: SignInDeps,
  visitor: Visitor,
  attempt: Attempt,
  account: SignInAccount,
  otp: string | undefined,
): Promise<PassedFactor> {
  if (!account.hasSecondFactor) return null
  if (otp === undefined) {
    await attempt.undecided()
    throw fail('otp_required', 'missing')
  }
  const verdict = await spendCode(deps, account.id, otp).catch(async (error: unknown) => {
    await attempt.undecided()
    throw error
  })
  if (verdict !== 'wrong') return verdict
  await writeAudit(deps.db, { ...auditOfVisitor(visitor, account), action: 'totp.refuse' })
  throw fail('otp_required', 'wrong')
}

async function openSession(
  deps: SignInDeps,
  visitor: Visitor,
  verified: SignInAccount,
  factor: PassedFactor,
): Promise<SessionTokens> {
  if (!verified.emailConfirmed) await remindToConfirm(deps, verified.id)
  const account = await joinedByDomain(deps, visitor, verified)
  const teamId = teamToOpenIn(deps, visitor, account)
  const { id: userId, passwordHash } = account
  const { address, userAgent } = visitor
  const session = { userId, passwordHash, teamId, address, userAgent, secondFactor: factor !== null }
  const sessionId = await deps.db.transaction().execute(async (trx) => {
    const id = await insertSession(trx, session, deps.lifetime)
    // The password was changed while it was compared.
    if (id === undefined) throw wrongCredentials()
    await writeAudit(trx, {
      ...auditOfVisitor(visitor, account),
      action: 'session.create',
      target: `session:${id}`,
      ...(factor === null ? {} : { after: { second_factor: factor } }),
    })
    return id
  })
  return currentTokens(deps, sessionId)
}

/** The team whose domain the address is in may be the account's first. */
async function joinedByDomain(
  { db, membersPerTeam }: SignInDeps,
  { requestId, address }: Visitor,
  account: SignInAccount,
): Promise<SignInAccount> {
  const joining = { membersPerTeam, requestId, address }
  const joined = await db.transaction().execute((trx) => joinByDomain(trx, account.id, joining))
  return { ...account, teamId: account.teamId ?? joined ?? null }
}

/** Throws for an account that may not sign in although its password was right. */
function teamToOpenIn(deps: SignInDeps, visitor: Visitor, account: SignInAccount): number {
  try {
    refuseDemoElsewhere(deps, account)
    return teamOfConfirmed(account)
  } catch (error) {
    if (error instanceof Failure) noteRefused(deps, visitor, account, error.code)
    throw error
  }
}

function teamOfConfirmed({ emailConfirmed, teamId }: SignInAccount): number {
  if (!emailConfirmed) throw fail('email_unconfirmed', 'account')
  if (teamId === null) throw fail('forbidden', 'noTeam')
  return teamId
}

/**
 * In the audit of the team that the session would open in: its admins are those who can do something about it, and telling
 * every team of the user would tell each of them that there are others.
 */
function noteRefused(
  { reportRefusal }: SignInDeps,
  visitor: Visitor,
  account: SignInAccount,
  code: string,
): void {
  reportRefusal({ ...auditOfVisitor(visitor, account), action: 'session.refuse', code })
}

const auditOfVisitor = ({ requestId, address }: Visitor, { id, teamId, isStaff }: SignInAccount) => ({
  teamId,
  actor: `user:${id}`,
  byStaff: isStaff,
  target: `user:${id}`,
  requestId,
  address,
})

/** The same session, in another team of the user; `not_found` for a team that the user is not in. */
export async function changeTeam(
  deps: SignInDeps,
  { requestId, address }: Origin,
  actor: Actor | null,
  teamId: number,
): Promise<SessionTokens> {
  if (actor?.kind !== 'user') throw fail('unauthenticated', 'bearerForTeam')
  const { sessionId } = actor
  await deps.db.transaction().execute(async (trx) => {
    if ((await switchTeam(trx, sessionId, teamId)) === undefined) throw notFound('team of yours')
    if (teamId === actor.teamId) return
    // In the audit of the team that is entered: staff may enter any.
    const about = { action: 'session.switch', target: `session:${sessionId}`, requestId, address }
    await writeAudit(trx, { ...auditOfActor(actor), ...about, teamId, after: { team_id: teamId } })
  })
  return currentTokens(deps, sessionId)
}

async function currentTokens(deps: SignInDeps, sessionId: string): Promise<SessionTokens> {
  const session = await findSession(deps.db, sessionId)
  if (!session?.profile || session.over) throw fail('token_not_valid', 'session')
  const { userId, teamId, sessionVersion, profile, counter } = session
  return issueTokens(deps, { sessionId, userId, teamId, sessionVersion, profile }, counter)
}
