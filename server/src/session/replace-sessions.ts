// A change of the credentials that a user signs in with revokes every session of the user. The caller continues in a new
// session: copies of the old refresh token are then invalid.
import type { SessionTokens } from '@pharos/contract/session/session'
import type { Trx } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import { requireUser } from './require-user.ts'
import {
  findOwnSessionTeam,
  findSession,
  insertSuccessor,
  lockUser,
  revokeAllSessions,
  type SessionLifetime,
} from './session.store.ts'
import { issueTokens, type IssueDeps } from './tokens.ts'

export type ReplaceSessionsDeps = IssueDeps & { readonly lifetime: SessionLifetime }

/** An operation of a user, with the user agent of the request. */
export type PersonalOperation = Operation & { readonly userAgent: string }

export type Replacement = {
  readonly reason: 'password' | 'second factor'
  /** Whether a code of the second factor opened the new session; null: as for the old one. */
  readonly secondFactor: boolean | null
}

/**
 * Revokes all sessions of the user and creates one for the caller. Throws `unauthenticated` if the caller's session was
 * revoked since the request was authenticated: a user who was signed out in between must not get a new session.
 */
export async function replaceSessions(
  trx: Trx,
  deps: ReplaceSessionsDeps,
  operation: PersonalOperation,
  { reason, secondFactor }: Replacement,
): Promise<{ sessionId: string; tokens: SessionTokens }> {
  const { userId, sessionId: oldId } = requireUser(operation)
  // Before the session, in the lock order of every revocation.
  await lockUser(trx, userId)
  if ((await findOwnSessionTeam(trx, userId, oldId)) === undefined) throw sessionOver()
  await revokeAllSessions(trx, userId, reason)
  const sessionId = await insertSuccessor(trx, oldId, operation, secondFactor, deps.lifetime)
  const session = sessionId === undefined ? undefined : await findSession(trx, sessionId)
  if (sessionId === undefined || !session?.profile) throw sessionOver()
  const { teamId, sessionVersion, profile, counter } = session
  const tokens = await issueTokens(deps, { sessionId, userId, teamId, sessionVersion, profile }, counter)
  return { sessionId, tokens }
}

export const sessionOver = () => fail('unauthenticated', 'sessionEnded')
