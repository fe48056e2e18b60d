// Reports failed sign-ins: to the person a reason, to the admins of the team a row without values, to the operator a metric.
import { signInReasonText } from '@pharos/contract/sign-in-reason'
import type { ReportRefusal } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { errorAt, fail, type Failure } from '../runtime/error.ts'
import type { RequestSource } from '../session/request-source.ts'
import { SignInFailure } from './identity-provider.ts'
import { insertAttempt, type SignInProvider } from './provider.store.ts'

export type AttemptReportDeps = {
  readonly db: Db
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

function ssoFailed({ reason }: SignInFailure): Failure {
  return fail(
    'sso_failed',
    'reason',
    { sentence: signInReasonText(reason).slice(0, -1) },
    { errors: [errorAt(['body', 'state'], 'signInFailed', { reason })] },
  )
}

async function record(
  { db, reportRefusal }: AttemptReportDeps,
  { requestId, address }: RequestSource,
  { id, teamId }: SignInProvider,
  { reason, claims }: SignInFailure,
): Promise<void> {
  await insertAttempt(db, { providerId: id, reason, claims, requestId })
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
