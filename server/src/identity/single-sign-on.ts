// Signs in with the identity provider of a team: from the e-mail address to the redirect, and from its answer to a session that opens this team only.
import type { BodyOf } from '@pharos/contract/route'
import { staffProviderKey, type linkIdentityRoute } from '@pharos/contract/session/sso'
import { writeAudit } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import { canonicalEmail } from '../session/canonical-email.ts'
import { checkPasskey, secondFactorUse } from '../session/passkey-check.ts'
import type { RequestSource } from '../session/request-source.ts'
import { consumeCode } from '../session/second-factor-check.ts'
import { insertProvidedSession, lockSessionUser } from '../session/session.store.ts'
import { findFactorStatus } from '../session/second-factor.store.ts'
import { currentTokens, signInFactorsOf } from '../session/sign-in.ts'
import { invalidToken } from '../session/mail-token.ts'
import { domainOfEmail } from '../team/domain-name.ts'
import { reporting } from './attempt.ts'
import { applyAccount, askOwner, findPerson, linkAccount } from './find-account.ts'
import { createState, saveFlow, takeFlow } from './flow.ts'
import { findAccountFacts, findAddress } from './identity.store.ts'
import { SignInFailure, type Assertion } from './identity-provider.ts'
import { openProvider } from './open-provider.ts'
import {
  findSignInProvider,
  saveReached,
  type DomainProvider,
  type SignInProvider,
} from './provider.store.ts'
import type {
  BrowserSource,
  CompleteBody,
  CompletedSignIn,
  FlowClient,
  SingleSignOnDeps,
  StartBody,
  StartedFlow,
} from './sign-in-flow.ts'
import { parseReturnTo } from './return-to.ts'
import { completeStaffSignIn, startStaffSignIn } from './staff-sign-in.ts'

const providerOfEmail = async (
  deps: SingleSignOnDeps,
  email: string,
): Promise<DomainProvider | undefined> => {
  const domain = domainOfEmail(canonicalEmail(email))
  return domain === undefined ? undefined : deps.findByDomain(domain)
}

/** Answers from the domain alone, and in the same time whether or not an account exists. */
export async function findSignInMethods(
  deps: SingleSignOnDeps,
  { address }: RequestSource,
  { email }: { readonly email: string },
): Promise<{ sso: { provider: string; required: boolean } | null }> {
  deps.methodsOfClient.take(address)
  const found = await providerOfEmail(deps, email)
  return { sso: found === undefined ? null : { provider: found.key, required: found.required } }
}

/** Throws `not_found` for a domain without a provider, and `sso_failed`. */
export async function startSingleSignOn(
  deps: SingleSignOnDeps,
  source: BrowserSource,
  body: StartBody,
): Promise<StartedFlow> {
  deps.attemptsOfClient.take(source.address)
  const { email, provider: key, return_to: returnTo } = body
  if ((email === undefined) === (key === undefined)) throw invalid(['body', 'email'], 'emailOrProvider')
  const known = key ?? (await providerOfEmail(deps, email!))?.key
  if (known === staffProviderKey) return startStaffSignIn(deps, source, body)
  const provider = known === undefined ? undefined : await findSignInProvider(deps.db, { key: known })
  if (provider?.status !== 'active') throw notFound('identity provider')
  return reporting(deps, source, provider, async () => {
    const state = createState()
    const user = source.actor?.kind === 'user' ? source.actor : null
    const loginHint = email ?? (user === null ? undefined : (await findAddress(deps.db, user.userId))?.email)
    const { redirect, secrets } = await openProvider(deps, provider).begin({ state, loginHint })
    // That of a sign-in in another tab, so that both can be completed.
    const cookie = source.cookie ?? createState()
    const sessionId = user?.sessionId ?? null
    const content = { secrets, returnTo: parseReturnTo(returnTo), sessionId }
    await saveFlow(deps.db, deps.ring, { kind: 'sign_in', state, providerId: provider.id, content, cookie })
    return { redirect, cookie }
  })
}

/** A verified assertion, and where it leads. */
type Verified = {
  readonly assertion: Assertion
  readonly returnTo: string | null
  readonly sessionId: string | null
  /** Whether a second request brings the second factor of the account. */
  readonly isSecond: boolean
}

/** In this order: the flow is deleted, the cookie compared, the answer redeemed. */
export async function completeSingleSignOn(
  deps: SingleSignOnDeps,
  client: FlowClient,
  body: CompleteBody,
): Promise<CompletedSignIn> {
  deps.attemptsOfClient.take(client.address)
  if (body.provider === staffProviderKey) return completeStaffSignIn(deps, client, body)
  const provider = await findSignInProvider(deps.db, { key: body.provider })
  return reporting(deps, client, provider, async () => {
    const verified = await verify(deps, client, provider, body)
    const strong = await checkSecondFactor(deps, client, provider!, body, verified)
    const sessionId = await openSession(deps, client, provider!, verified, strong)
    const tokens = await currentTokens(deps, sessionId)
    deps.onSignIn('success')
    return { ...tokens, return_to: verified.returnTo }
  })
}

async function verify(
  deps: SingleSignOnDeps,
  { cookie }: FlowClient,
  provider: SignInProvider | undefined,
  { state, code, iss, error }: CompleteBody,
): Promise<Verified> {
  const flow = await takeFlow(deps.db, deps.ring, state, cookie)
  if (flow.providerId !== provider?.id) throw new SignInFailure('issuer')
  if (provider.status !== 'active') throw new SignInFailure('unavailable')
  if (flow.kind === 'factor') return { ...flow.content, isSecond: true }
  if (flow.kind !== 'sign_in') throw new SignInFailure('expired')
  const { secrets, returnTo, sessionId, samlResponse } = flow.content
  const answer = { state, code, iss, error, samlResponse }
  const assertion = await openProvider(deps, provider).finish(secrets, answer)
  return { assertion, returnTo, sessionId, isSecond: false }
}

/**
 * Returns whether the sign-in counts as one with a second factor. Throws `otp_required` with a new `state` if the factor of the account is
 * needed: the code of the provider is spent.
 */
async function checkSecondFactor(
  deps: SingleSignOnDeps,
  client: FlowClient,
  provider: SignInProvider,
  body: CompleteBody,
  verified: Verified,
): Promise<boolean> {
  const { assertion, returnTo, sessionId, isSecond } = verified
  const { decision, email } = await findPerson(deps.db, provider, assertion)
  if (decision.kind === 'ask') {
    const { subject, claims } = assertion
    await askOwner(deps.db, deps, client, provider, { subject, userId: decision.userId, email: email! })
    throw new SignInFailure('linked_elsewhere', { claims })
  }
  const userId = decision.kind === 'create' ? null : decision.userId
  const asks = provider.secondFactor === 'local' && userId !== null && (await hasFactor(deps, userId))
  if (asks && !(isSecond && (await isRightFactor(deps, userId, body)))) {
    const state = createState()
    const content = { assertion, returnTo, sessionId }
    const flow = { kind: 'factor', state, providerId: provider.id, content, cookie: client.cookie } as const
    await saveFlow(deps.db, deps.ring, flow)
    throw fail('otp_required', isSecond ? 'wrong' : 'missing', await signInFactorsOf(deps, userId, { state }))
  }
  const strong =
    provider.secondFactor === 'local' ? asks : provider.secondFactor === 'trust' || assertion.secondFactor
  if (provider.requiresFactor && !strong) throw new SignInFailure('mfa_missing', { claims: assertion.claims })
  return strong
}

const hasFactor = async ({ db }: SingleSignOnDeps, userId: number): Promise<boolean> =>
  (await findFactorStatus(db, userId)).has_factor

async function isRightFactor(
  deps: SingleSignOnDeps,
  userId: number,
  { otp, passkey }: Pick<CompleteBody, 'otp' | 'passkey'>,
): Promise<boolean> {
  if (passkey) return (await checkPasskey(deps, secondFactorUse(userId), passkey)).kind === 'accepted'
  return otp !== undefined && (await consumeCode(deps, userId, otp)) !== 'wrong'
}

/** Everything in one transaction: if it fails, nothing is half-made. */
const openSession = (
  deps: SingleSignOnDeps,
  client: FlowClient,
  provider: SignInProvider,
  { assertion, sessionId: replaced }: Verified,
  strong: boolean,
): Promise<string> =>
  deps.db.transaction().execute(async (trx) => {
    const userId = await applyAccount(trx, deps, client, provider, assertion)
    const open = replaced === null ? undefined : await lockSessionUser(trx, replaced)
    if (open !== undefined && open !== userId) throw fail('other_account', 'session')
    const account = await findAddress(trx, userId)
    const session = {
      userId,
      sessionVersion: account!.session_version,
      teamId: provider.teamId,
      providerId: provider.id,
      staffRoles: null,
      hours: provider.sessionHours,
      strong,
      idpSession: assertion.idpSession ?? null,
      address: client.address,
      userAgent: client.userAgent,
      replaced: open === undefined ? null : replaced,
    }
    const id = await insertProvidedSession(trx, session, deps.lifetime)
    if (id === undefined) throw new SignInFailure('expired')
    await saveReached(trx, provider.id)
    await recordSession(trx, client, provider, userId, id, session.replaced)
    return id
  })

const recordSession = (
  trx: Trx,
  { requestId, address }: RequestSource,
  { id, teamId }: SignInProvider,
  userId: number,
  sessionId: string,
  replaces: string | null,
): Promise<void> =>
  writeAudit(trx, {
    teamId,
    actor: `user:${userId}`,
    credential: `session:${sessionId}`,
    action: 'session.create',
    target: `session:${sessionId}`,
    after: { proof: 'provider', provider: id, ...(replaces === null ? {} : { replaces }) },
    requestId,
    address,
  })

/** The link of the mail proves that the owner of the account agrees. Throws `invalid_token`, also if a customer's provider may no longer link the account. */
export async function linkIdentity(
  deps: SingleSignOnDeps,
  source: RequestSource,
  { token }: BodyOf<typeof linkIdentityRoute>,
): Promise<{ email: string; team_name: string }> {
  deps.attemptsOfClient.take(source.address)
  return deps.db.transaction().execute(async (trx) => {
    const flow = await takeFlow(trx, deps.ring, token, null).catch(asInvalidToken)
    if (flow?.kind !== 'link') throw invalidToken()
    const provider = await findSignInProvider(trx, { id: flow.providerId! })
    if (provider?.status !== 'active') throw invalidToken()
    const { subject, userId, email } = flow.content
    const account = await findAccountFacts(trx, provider, userId)
    const address = await findAddress(trx, userId)
    const isSame = address?.email.toLowerCase() === email.toLowerCase()
    const domain = domainOfEmail(email)
    const isBound = domain !== undefined && provider.domains.includes(domain)
    if (!account || account.isReserved || !isSame || !isBound) throw invalidToken()
    await linkAccount(trx, deps, source, provider, { subject, userId, email })
    return { email: address.email, team_name: provider.teamName }
  })
}

function asInvalidToken(error: unknown): never {
  throw error instanceof SignInFailure ? invalidToken() : error
}
