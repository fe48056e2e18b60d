// A test of an identity provider by an admin: the whole flow, without a link, an account or a session.
import type { BodyOf } from '@pharos/contract/route'
import type { SignInTest, testProviderRoute } from '@pharos/contract/team/provider'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Operation } from '../operation/operation.ts'
import { requireUser } from '../session/require-user.ts'
import { reporting, type AttemptReportDeps } from './attempt.ts'
import { addressOf } from './find-account.ts'
import { findAddress } from './identity.store.ts'
import { createState, saveFlow, takeFlow } from './flow.ts'
import { SignInFailure, type Assertion, type CreateIdentityProvider } from './identity-provider.ts'
import { rolesOfGroups } from './mapping.ts'
import { openProvider } from './open-provider.ts'
import { enterToManage, known, type ProviderDeps } from './provider.ts'
import { findSignInProvider, saveTested, type SignInProvider } from './provider.store.ts'

export type TestDeps = ProviderDeps & AttemptReportDeps & { readonly createProvider: CreateIdentityProvider }

export type TestAnswer = {
  readonly redirect: string | null
  readonly result: SignInTest | null
  /** For the browser, if the test has begun. */
  readonly cookie: string | null
}

type TestBody = BodyOf<typeof testProviderRoute>

/** Begins a test, or ends it with the answer of the provider. Throws `sso_failed`. */
export async function testProvider(
  deps: TestDeps,
  operation: Operation,
  team: string,
  id: number,
  body: TestBody,
  cookie: string | null,
): Promise<TestAnswer> {
  const inTeam = await enterToManage(deps, operation, team)
  const found = await findSignInProvider(deps.db, { id })
  const provider = known(found?.teamId === inTeam.actor.teamId ? found : undefined)
  const { state } = body
  return reporting(deps, operation, provider, () =>
    state === undefined
      ? begin(deps, inTeam, provider, cookie)
      : finish(deps, inTeam, provider, { ...body, state }, cookie),
  )
}

async function begin(
  deps: TestDeps,
  operation: Operation,
  provider: SignInProvider,
  sent: string | null,
): Promise<TestAnswer> {
  const state = createState()
  const cookie = sent ?? createState()
  const { userId } = requireUser(operation)
  const loginHint = (await findAddress(deps.db, userId))?.email
  const { redirect, secrets } = await openProvider(deps, provider).begin({ state, loginHint })
  const content = { secrets, userId }
  await saveFlow(deps.db, deps.ring, { kind: 'test', state, providerId: provider.id, content, cookie })
  return { redirect, result: null, cookie }
}

async function finish(
  deps: TestDeps,
  operation: Operation,
  provider: SignInProvider,
  { state, code, iss, error }: TestBody & { readonly state: string },
  cookie: string | null,
): Promise<TestAnswer> {
  const flow = await takeFlow(deps.db, deps.ring, state, cookie)
  if (flow.kind !== 'test') throw new SignInFailure('expired')
  if (flow.providerId !== provider.id) throw new SignInFailure('issuer')
  if (flow.content.userId !== requireUser(operation).userId) throw new SignInFailure('wrong_browser')
  const { secrets, samlResponse } = flow.content
  const answer = { state, code, iss, error, samlResponse }
  const assertion = await openProvider(deps, provider).finish(secrets, answer)
  const result = resultOf(provider, assertion)
  if (result.reason === null) await saveTested(deps.db, provider.id)
  await writeAudit(deps.db, {
    ...auditOf(operation),
    action: 'provider.test',
    target: `provider:${provider.id}`,
    after: { roles: result.roles, reason: result.reason },
  })
  return { redirect: null, result, cookie: null }
}

function resultOf(provider: SignInProvider, assertion: Assertion): SignInTest {
  const { subject, email, groups, claims, secondFactor } = assertion
  const { roles, reason } = rolesOfGroups(provider, groups)
  return {
    subject,
    email,
    groups: groups === 'overflow' ? [] : [...groups],
    claims: [...claims],
    second_factor: provider.secondFactor === 'trust' || secondFactor,
    roles: [...roles],
    reason: objectionTo(provider, assertion) ?? reason,
  }
}

/** As for a sign-in of a person without an account. */
function objectionTo({ domains }: SignInProvider, { email, emailVerified }: Assertion): SignInTest['reason'] {
  const { email: canonical, domain } = addressOf({ email })
  if (canonical === null) return 'email_missing'
  if (emailVerified === false) return 'email_unverified'
  return domain !== null && domains.includes(domain) ? null : 'domain_not_yours'
}
