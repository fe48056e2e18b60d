// Refreshes a session. The usual case is one statement (rotate.ts); the session is read only if that rotates no token:
// a token that was presented before gets its successor again, or the session is revoked. Both are audited, except
// repeats within 30 s.
import type { SessionTokens } from '@pharos/contract/session/session'
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import { fail } from '../runtime/error.ts'
import { refuseDemoElsewhere, type DemoRule } from './demo.ts'
import { parseRefreshToken, type RefreshToken } from './refresh-token.ts'
import type { Rotate } from './rotate.ts'
import { judgeRefresh, type RotationVerdict } from './rotation.ts'
import {
  findSession,
  renewGrace,
  revokeSession,
  type PresentedSession,
  type SessionLifetime,
} from './session.store.ts'
import { issueTokens, type IssueDeps } from './tokens.ts'
import type { ClientSource } from './request-source.ts'

export type SessionDeps = IssueDeps & DemoRule & { readonly db: Db; readonly lifetime: SessionLifetime }
export type RefreshDeps = SessionDeps & { readonly rotate: Rotate }

type Repeat = Extract<RotationVerdict, { kind: 'repeat' }>

/** Returns new tokens for a refresh token. Throws `token_not_valid` if it is invalid, expired or reused. */
export async function refreshTokens(
  deps: RefreshDeps,
  client: ClientSource,
  text: string,
): Promise<SessionTokens> {
  const token = parseRefreshToken(deps.ring, text)
  if (!token) throw notValid()
  const { address, userAgent } = client
  const holder = await deps.rotate({ ...token, address, userAgent })
  if (!holder) return repeatOrEnd(deps, client, token)
  refuseDemoElsewhere(deps, holder)
  return issueTokens(deps, holder, token.counter + 1)
}

async function repeatOrEnd(
  deps: RefreshDeps,
  client: ClientSource,
  token: RefreshToken,
): Promise<SessionTokens> {
  const session = await findSession(deps.db, token.sessionId)
  if (!session || session.over || !session.profile) throw notValid()
  const verdict = judgeRefresh(session, token.counter, client, session.now)
  // Two clients presented the newest token: the other was first, so this one now has the parent.
  if (verdict.kind === 'rotate') throw fail('unavailable', 'session', { retryAfterSeconds: 1 })
  if (verdict.kind === 'reuse') return endSession(deps, client, token, session)
  refuseDemoElsewhere(deps, session)
  // Saved before the answer: after the answer, the successor may be presented.
  if (!(await recordRepeat(deps.db, client, token, session, verdict))) return repeatOrEnd(deps, client, token)
  const { userId, teamId, sessionVersion, profile } = session
  return issueTokens(
    deps,
    { sessionId: token.sessionId, userId, teamId, sessionVersion, profile },
    verdict.successor,
  )
}

/** Returns false if the session has changed since it was read: its newest token was presented, or it was revoked. */
async function recordRepeat(
  db: Db,
  client: ClientSource,
  token: RefreshToken,
  session: PresentedSession,
  { renew, late }: Repeat,
): Promise<boolean> {
  if (!renew && !late) return true
  return db.transaction().execute(async (trx) => {
    if (renew && !(await renewGrace(trx, token.sessionId, session.counter))) return false
    if (late) await audit(trx, client, token, session, 'session.repeat')
    return true
  })
}

async function endSession(
  deps: RefreshDeps,
  client: ClientSource,
  token: RefreshToken,
  session: PresentedSession,
): Promise<never> {
  await deps.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(trx, token.sessionId, 'reuse'))) return
    await audit(trx, client, token, session, 'session.reuse')
    // The user is notified, since only they can judge what an attacker may have done with the session.
    if (session.profile) {
      const content = { at: session.now.toISOString(), address: client.address }
      const { email } = session.profile
      await queueMail(trx, deps.ring, { to: email, teamId: null, template: 'session-ended', content })
    }
  })
  throw notValid()
}

async function audit(
  trx: Trx,
  { requestId, address }: ClientSource,
  { sessionId, counter }: RefreshToken,
  session: PresentedSession,
  action: AuditEntry['action'],
): Promise<void> {
  await writeAudit(trx, {
    teamId: session.teamId,
    actor: `user:${session.userId}`,
    credential: `session:${sessionId}`,
    byStaff: session.profile?.is_staff ?? false,
    action,
    target: `session:${sessionId}`,
    after: { presented: counter, newest: session.counter },
    requestId,
    address,
  })
}

const notValid = () => fail('token_not_valid', 'refresh')
