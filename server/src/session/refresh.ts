// Refreshing a session. The usual case is one statement; only when that finds nothing to rotate is the session looked
// at: a token that came twice gets its successor again, a copy of an old one ends the session, which is audited and told.
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import { Failure } from '../runtime/error.ts'
import { parseRefreshToken, type RefreshToken } from './refresh-token.ts'
import { judgeRefresh } from './rotation.ts'
import {
  findSession,
  renewRotation,
  revokeSession,
  rotateSession,
  type PresentedSession,
  type SessionLifetime,
} from './session.store.ts'
import type { SessionTokens } from '@pharos/contract/session'
import { refuseDemoElsewhere, type DemoRule } from './demo.ts'
import { issueTokens, type IssueDeps } from './tokens.ts'

export type RefreshDeps = IssueDeps & DemoRule & { readonly db: Db; readonly lifetime: SessionLifetime }
export type Origin = { readonly requestId: string; readonly address: string }

/** New tokens for a refresh token; `token_not_valid` for one that is bad, expired or reused. */
export async function refreshTokens(deps: RefreshDeps, origin: Origin, text: string): Promise<SessionTokens> {
  const token = parseRefreshToken(deps.ring, text)
  if (!token) throw notValid()
  const holder = await rotateSession(deps.db, token.sessionId, token.counter, deps.lifetime)
  if (!holder) return repeatOrEnd(deps, origin, token)
  refuseDemoElsewhere(deps, holder)
  return issueTokens(deps, { ...holder, sessionId: token.sessionId }, token.counter + 1)
}

async function repeatOrEnd(deps: RefreshDeps, origin: Origin, token: RefreshToken): Promise<SessionTokens> {
  const session = await findSession(deps.db, token.sessionId)
  if (!session || session.over || !session.profile) throw notValid()
  const verdict = judgeRefresh(session, token.counter, session.now)
  // Two presenters of the newest token: the other was first, and this one now holds the parent.
  if (verdict.kind === 'rotate')
    throw new Failure('unavailable', 'The session is busy; try again.', { retryAfterSeconds: 1 })
  if (verdict.kind === 'reuse') return endSession(deps, origin, token, session)
  refuseDemoElsewhere(deps, session)
  // Noted before it is answered: from the answer on, the successor may be presented.
  if (verdict.renew) await renewRotation(deps.db, token.sessionId, session.counter)
  const { userId, teamId, sessionVersion, profile } = session
  return issueTokens(
    deps,
    { sessionId: token.sessionId, userId, teamId, sessionVersion, profile },
    verdict.successor,
  )
}

async function endSession(
  deps: RefreshDeps,
  origin: Origin,
  token: RefreshToken,
  session: PresentedSession,
): Promise<never> {
  await deps.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(trx, token.sessionId, 'reuse'))) return
    await writeAudit(trx, {
      teamId: session.teamId,
      actor: `user:${session.userId}`,
      credential: `session:${token.sessionId}`,
      action: 'session.reuse',
      target: `session:${token.sessionId}`,
      after: { presented: token.counter, newest: session.counter },
      requestId: origin.requestId,
      address: origin.address,
    })
    // The user did nothing that would explain it, and is the one who can tell what the thief may have done.
    if (session.profile) {
      const content = { at: session.now.toISOString(), address: origin.address }
      const { email } = session.profile
      await queueMail(trx, deps.ring, { to: email, teamId: null, template: 'session-ended', content })
    }
  })
  throw notValid()
}

const notValid = () => new Failure('token_not_valid', 'The refresh token is not valid; sign in again.')
