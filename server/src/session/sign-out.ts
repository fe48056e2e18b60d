// Ends sessions. Idempotent: an unknown token, or a token of an ended session, is not an error.
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { requireLocal } from '../operation/grant.ts'
import type { Actor } from '../operation/operation.ts'
import { findAccountByEmail } from './account.store.ts'
import { parseRefreshToken } from './refresh-token.ts'
import type { SessionDeps } from './refresh.ts'
import { findSession, revokeAllSessions, revokeSession } from './session.store.ts'
import type { RequestSource } from './request-source.ts'

export type SignOut = { readonly refresh?: string; readonly all?: boolean }

/**
 * Ends the session of the refresh token, or of the bearer; with `all`, every session of that user. Throws `local_sign_in_required` for all
 * sessions from one that an identity provider has opened.
 */
export async function signOut(
  deps: SessionDeps,
  source: RequestSource,
  actor: Actor | null,
  request: SignOut,
): Promise<void> {
  const sessionId = sessionOf(deps, actor, request)
  if (sessionId === undefined) return
  const session = await findSession(deps.db, sessionId)
  if (!session || session.over) return
  if (request.all) requireLocal({ isLocal: session.is_local })
  await deps.db.transaction().execute(async (trx) => {
    if (request.all) await revokeAllSessions(trx, session.userId, 'logout')
    else await revokeSession(trx, sessionId, 'logout')
    await writeAudit(trx, {
      teamId: session.teamId,
      actor: `user:${session.userId}`,
      credential: `session:${sessionId}`,
      // A user without a profile in the team entered it as staff; a removed member has no session.
      byStaff: session.profile?.is_staff ?? true,
      action: request.all ? 'session.revoke_all' : 'session.revoke',
      target: `session:${sessionId}`,
      requestId: source.requestId,
      address: source.address,
    })
  })
}

function sessionOf(deps: SessionDeps, actor: Actor | null, { refresh }: SignOut): string | undefined {
  if (refresh !== undefined) return parseRefreshToken(deps.ring, refresh)?.sessionId
  if (actor?.kind === 'user') return actor.sessionId
  throw fail('unauthenticated', 'sessionUnknown')
}

/** Ends every session of the user, for the operator. Returns the address as stored in the account. Throws `not_found`. */
export async function signOutUser(db: Db, email: string): Promise<string> {
  const account = await findAccountByEmail(db, email)
  if (!account) throw notFound(`user ${email}`)
  await db.transaction().execute(async (trx) => {
    await revokeAllSessions(trx, account.id, 'operator')
    await writeAudit(trx, {
      teamId: null,
      actor: 'operator',
      action: 'session.revoke_all',
      target: `user:${account.id}`,
    })
  })
  return account.email
}
