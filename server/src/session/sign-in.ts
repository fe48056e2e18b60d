// Signing in with e-mail and password, and going on in another team.
import type { SessionTokens } from '@pharos/contract/session'
import { writeAudit } from '../db/audit.ts'
import { Failure, notFound } from '../runtime/error.ts'
import type { Actor } from '../runtime/operation.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import { beginAttempt, type Attempt, type AttemptDeps } from './attempt.ts'
import { refuseDemoElsewhere } from './demo.ts'
import { verifyPassword } from './password.ts'
import type { Origin, RefreshDeps } from './refresh.ts'
import {
  findSession,
  findSignInAccount,
  insertSession,
  switchTeam,
  type SignInAccount,
} from './session.store.ts'
import { issueTokens } from './tokens.ts'

export type SignInDeps = RefreshDeps & AttemptDeps & { readonly hashing: Semaphore }

export type Visitor = Origin & { readonly userAgent: string }

/** Tokens of a new session. The same error, after the same work, for a wrong password and an unknown account. */
export async function signIn(
  deps: SignInDeps,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<SessionTokens> {
  // Before the hash: a refused attempt must cost us nothing.
  const attempt = await beginAttempt(deps, email, visitor.address)
  const account = await verifiedAccount(deps, attempt, email, password)
  await attempt.succeeded()
  return openSession(deps, visitor, account)
}

async function verifiedAccount(
  deps: SignInDeps,
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
  if (!account || !matches)
    throw new Failure('invalid_credentials', 'The e-mail address or the password is wrong.')
  return account
}

async function openSession(
  deps: SignInDeps,
  visitor: Visitor,
  account: SignInAccount,
): Promise<SessionTokens> {
  refuseDemoElsewhere(deps, account)
  if (!account.emailConfirmed)
    throw new Failure('email_unconfirmed', 'Confirm your e-mail address first: follow the link in the mail.')
  const { teamId } = account
  if (teamId === null)
    throw new Failure('forbidden', 'You are not a member of any team; ask an admin of yours to invite you.')
  const { address, userAgent, requestId } = visitor
  const sessionId = await insertSession(
    deps.db,
    { userId: account.id, teamId, address, userAgent },
    deps.lifetime,
  )
  await writeAudit(deps.db, {
    teamId,
    actor: `user:${account.id}`,
    action: 'session.create',
    target: `session:${sessionId}`,
    requestId,
    address,
  })
  return currentTokens(deps, sessionId)
}

/** The same session, in another team of the user; `not_found` for a team that the user is not in. */
export async function changeTeam(
  deps: SignInDeps,
  actor: Actor | null,
  teamId: number,
): Promise<SessionTokens> {
  if (actor?.kind !== 'user')
    throw new Failure('unauthenticated', 'Switching the team needs the bearer token of the session.')
  const counter = await switchTeam(deps.db, actor.sessionId, teamId)
  if (counter === undefined) throw notFound('team of yours')
  return currentTokens(deps, actor.sessionId)
}

async function currentTokens(deps: SignInDeps, sessionId: string): Promise<SessionTokens> {
  const session = await findSession(deps.db, sessionId)
  if (!session?.profile || session.over)
    throw new Failure('token_not_valid', 'The session is over; sign in again.')
  const { userId, teamId, sessionVersion, profile, counter } = session
  return issueTokens(deps, { sessionId, userId, teamId, sessionVersion, profile }, counter)
}
