// Opens a team with one of its recovery codes, for an admin who has signed in with a second factor: the identity provider does not answer.
import type { BodyOf } from '@pharos/contract/route'
import type { recoverSessionRoute } from '@pharos/contract/session/sso'
import { auditOf, writeAudit, type ReportRefusal } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { Operation, UserActor } from '../operation/operation.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { matchRecoveryCode } from '../session/recovery-code.ts'
import { requireUser } from '../session/require-user.ts'
import { sessionOver } from '../session/replace-sessions.ts'
import { beginCodeAttempt } from '../session/second-factor-check.ts'
import { refundCodeAttempt } from '../session/second-factor.store.ts'
import { findAdmins } from '../team/domain.store.ts'
import { findAddress } from './identity.store.ts'
import {
  findRecoveringMember,
  insertRecoveryProof,
  listUnusedTeamCodes,
  saveLocalProof,
  useTeamCode,
} from './sign-in-policy.store.ts'

export type RecoveryDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly attemptsOfClient: ClientLimiter
  readonly reportRefusal: ReportRefusal
}

/**
 * Throws `not_found` for a team of others, `forbidden` unless the caller is its admin, `second_factor_required` for a session without one, `invalid` for a
 * wrong code. Wrong codes count together with those of the account's second factor, over all processes.
 */
export async function recoverSession(
  deps: RecoveryDeps,
  operation: Operation,
  { team_id: teamId, code: text }: BodyOf<typeof recoverSessionRoute>,
): Promise<{ team_id: number; expires: string }> {
  deps.attemptsOfClient.take(operation.address)
  const actor = requireUser(operation)
  const member = await findRecoveringMember(deps.db, actor, teamId)
  if (!member) throw notFound('team')
  if (!member.is_admin) throw fail('forbidden', 'recoveryOfAdmins')
  if (!member.is_strong) throw fail('second_factor_required', 'recovery')
  const mayTry = await beginCodeAttempt(deps, actor.userId)
  const code = matchRecoveryCode(
    deps.ring,
    `team ${teamId}`,
    text,
    await listUnusedTeamCodes(deps.db, teamId),
  )
  if (!mayTry || !code) {
    const about = { teamId, action: 'session.refuse', target: `team:${teamId}`, code: 'recovery_code' }
    deps.reportRefusal({ ...auditOf(operation), ...about })
    throw wrongCode()
  }
  await refundCodeAttempt(deps.db, actor.userId)
  const expires = await deps.db.transaction().execute(async (trx) => {
    if (!(await useTeamCode(trx, code))) throw wrongCode()
    await saveLocalProof(trx, actor.sessionId)
    const until = await insertRecoveryProof(trx, actor, teamId)
    if (!until) throw sessionOver()
    await report(trx, deps, operation, actor, teamId, until)
    return until
  })
  return { team_id: teamId, expires: expires.toISOString() }
}

const wrongCode = () => invalid(['body', 'code'], 'recoveryCode')

/** All admins get a mail: a code that a former admin has kept must not stay unnoticed. */
async function report(
  trx: Trx,
  { ring }: RecoveryDeps,
  operation: Operation,
  { userId, sessionId }: UserActor,
  teamId: number,
  expires: Date,
): Promise<void> {
  await writeAudit(trx, {
    ...auditOf(operation),
    teamId,
    action: 'session.recover',
    target: `session:${sessionId}`,
    after: { expires: expires.toISOString() },
  })
  const { team, emails } = await findAdmins(trx, teamId)
  const by = (await findAddress(trx, userId))?.email ?? ''
  const at = new Date().toISOString()
  const content = { change: 'recovery code used', team, by, at, address: operation.address } as const
  for (const to of emails) await queueMail(trx, ring, { to, teamId, template: 'team-sign-in', content })
}
