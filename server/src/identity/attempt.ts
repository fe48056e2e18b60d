// Reports failed sign-ins: to the person a reason, to the admins of the team a row without values, to the operator a metric.
import { signInReasonText } from '@pharos/contract/sign-in-reason'
import type { ReportRefusal } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import { errorAt, fail, type Failure } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import type { RequestSource } from '../session/request-source.ts'
import { findAdmins } from '../team/domain.store.ts'
import { SignInFailure } from './identity-provider.ts'
import { insertAttempt, takeOutage, type SignInProvider } from './provider.store.ts'

export type AttemptReportDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly reportRefusal: ReportRefusal
  readonly onSignIn: (outcome: string) => void
}

/** Runs a step of a sign-in. A SignInFailure becomes a row of the attempts and `sso_failed`. */
export async function reporting<T>(
  deps: AttemptReportDeps,
  source: RequestSource,
  provider: SignInProvider | undefined,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error
    deps.onSignIn(error.reason)
    if (provider) await record(deps, source, provider, error)
    throw ssoFailed(error)
  }
}

export function ssoFailed({ reason }: SignInFailure): Failure {
  return fail(
    'sso_failed',
    'reason',
    { sentence: signInReasonText(reason).slice(0, -1) },
    { errors: [errorAt(['body', 'state'], 'signInFailed', { reason })] },
  )
}

async function record(
  { db, ring, reportRefusal }: AttemptReportDeps,
  { requestId, address }: RequestSource,
  provider: SignInProvider,
  { reason, claims }: SignInFailure,
): Promise<void> {
  const { id, teamId } = provider
  await insertAttempt(db, { providerId: id, reason, claims, requestId })
  if (reason === 'unavailable') await db.transaction().execute((trx) => mailOutage(trx, ring, provider))
  const target = `provider:${id}`
  reportRefusal({
    teamId,
    actor: 'pharos',
    action: 'session.refuse',
    target,
    code: reason,
    requestId,
    address,
  })
}

async function mailOutage(trx: Trx, ring: KeyRing, { id, teamId, name }: SignInProvider): Promise<void> {
  if (!(await takeOutage(trx, id))) return
  const { team, emails } = await findAdmins(trx, teamId)
  const content = { change: 'provider unreachable', team, provider: name } as const
  for (const to of emails) await queueMail(trx, ring, { to, teamId, template: 'team-sign-in', content })
}
