// Signs staff of the installation in with the identity provider of the platform file. It opens an account that the operator has made staff: it creates none, and
// a group gives at most the roles that the platform file maps to it.
import { staffProviderKey } from '@pharos/contract/session/sso'
import { staffRoles, type StaffRole } from '@pharos/contract/staff-role'
import { writeAudit } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { insertProvidedSession, lockSessionUser, lockUser } from '../session/session.store.ts'
import { findOwnSessionTeam } from '../session/session.store.ts'
import { currentTokens } from '../session/sign-in.ts'
import { ssoFailed } from './attempt.ts'
import { addressOf } from './find-account.ts'
import { createState, saveFlow, takeFlow } from './flow.ts'
import { SignInFailure, type Assertion, type IdentityProvider } from './identity-provider.ts'
import { openProvider } from './open-provider.ts'
import { parseReturnTo } from './return-to.ts'
import type {
  BrowserSource,
  CompleteBody,
  CompletedSignIn,
  FlowClient,
  SingleSignOnDeps,
  StartBody,
  StartedFlow,
} from './sign-in-flow.ts'
import { findAddress } from './identity.store.ts'
import {
  findSignInStaff,
  findStaffSignIn,
  type SignInStaff,
  type StaffSignIn,
} from './staff-sign-in.store.ts'

const sessionHours = 12

/** The context under which `platform/kinds/staff-sign-in.ts` seals the secret. */
const secretContext = 'staff_sign_in'

const openStaffProvider = (deps: SingleSignOnDeps, found: StaffSignIn): IdentityProvider =>
  openProvider(deps, {
    key: staffProviderKey,
    secretContext,
    settings: {
      issuer: found.issuer,
      client_id: found.client_id,
      groups_claim: found.groups_claim,
      second_factor_values: found.acr === null ? [] : [found.acr],
    },
    secretSealed: found.secret_sealed,
    domains: found.domains,
  })

/** Runs a step; what fails is counted, and the person reads the reason. */
async function counting<T>(
  deps: SingleSignOnDeps,
  { requestId, address }: BrowserSource,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error
    deps.onStaffSignIn(error.reason)
    const about = { actor: 'pharos', action: 'session.refuse', target: 'staff_sign_in', code: error.reason }
    deps.reportRefusal({ teamId: null, ...about, requestId, address })
    throw ssoFailed(error)
  }
}

export async function startStaffSignIn(
  deps: SingleSignOnDeps,
  source: BrowserSource,
  { email, return_to: returnTo }: StartBody,
): Promise<StartedFlow> {
  const found = await findStaffSignIn(deps.db)
  if (!found) throw notFound('identity provider')
  return counting(deps, source, async () => {
    const state = createState()
    const user = source.actor?.kind === 'user' ? source.actor : null
    const loginHint = email ?? (user === null ? undefined : (await findAddress(deps.db, user.userId))?.email)
    const { redirect, secrets } = await openStaffProvider(deps, found).begin({ state, loginHint })
    const cookie = source.cookie ?? createState()
    const content = { secrets, returnTo: parseReturnTo(returnTo), sessionId: user?.sessionId ?? null }
    await saveFlow(deps.db, deps.ring, { kind: 'staff', state, providerId: null, content, cookie })
    return { redirect, cookie }
  })
}

export async function completeStaffSignIn(
  deps: SingleSignOnDeps,
  client: FlowClient,
  { state, code, iss, error }: CompleteBody,
): Promise<CompletedSignIn> {
  return counting(deps, { ...client, actor: null }, async () => {
    const flow = await takeFlow(deps.db, deps.ring, state, client.cookie)
    if (flow.kind !== 'staff') throw new SignInFailure('issuer')
    const found = await findStaffSignIn(deps.db)
    if (!found) throw new SignInFailure('unavailable')
    const { secrets, returnTo, sessionId } = flow.content
    const assertion = await openStaffProvider(deps, found).finish(secrets, { state, code, iss, error })
    const opened = await deps.db
      .transaction()
      .execute((trx) => openSession(trx, deps, client, found, assertion, sessionId))
    const tokens = await currentTokens(deps, opened)
    deps.onStaffSignIn('success')
    return { ...tokens, return_to: returnTo }
  })
}

/** Throws SignInFailure unless the address is that of staff, in a domain of the installation. */
async function accountOf(trx: Trx, found: StaffSignIn, assertion: Assertion): Promise<SignInStaff> {
  const { claims } = assertion
  const { email, domain } = addressOf(assertion)
  if (email === null) throw new SignInFailure('email_missing', { claims })
  if (assertion.emailVerified === false) throw new SignInFailure('email_unverified', { claims })
  if (domain === null || !found.domains.includes(domain))
    throw new SignInFailure('domain_not_yours', { claims })
  const account = await findSignInStaff(trx, email)
  if (!account) throw new SignInFailure('not_assigned', { claims })
  return account
}

/** Null: the roles of the account, if the platform file maps no groups. */
function staffRolesOfGroups(
  { groups }: Pick<StaffSignIn, 'groups'>,
  { groups: held, claims }: Pick<Assertion, 'groups' | 'claims'>,
): StaffRole[] | null {
  const mapped = Object.entries(groups)
  if (mapped.length === 0) return null
  if (held === 'overflow') throw new SignInFailure('groups_overflow', { claims })
  const given = new Set(mapped.flatMap(([group, roles]) => (held.includes(group) ? roles : [])))
  if (given.size === 0) throw new SignInFailure('not_assigned', { claims })
  return staffRoles.filter((role) => given.has(role))
}

async function openSession(
  trx: Trx,
  deps: SingleSignOnDeps,
  { requestId, address, userAgent }: FlowClient,
  found: StaffSignIn,
  assertion: Assertion,
  replaced: string | null,
): Promise<string> {
  const account = await accountOf(trx, found, assertion)
  const roles = staffRolesOfGroups(found, assertion)
  await lockUser(trx, account.id)
  const open = replaced === null ? undefined : await lockSessionUser(trx, replaced)
  if (open !== undefined && open !== account.id) throw fail('other_account', 'session')
  const teamOfReplaced = open === undefined ? undefined : await findOwnSessionTeam(trx, account.id, replaced!)
  const teamId = teamOfReplaced ?? account.team_id
  if (teamId === null) throw fail('forbidden', 'noTeam')
  const strong = found.second_factor === 'trust' || assertion.secondFactor
  const session = {
    userId: account.id,
    sessionVersion: account.session_version,
    teamId,
    providerId: null,
    staffRoles: roles,
    hours: sessionHours,
    strong,
    idpSession: assertion.idpSession ?? null,
    address,
    userAgent,
    replaced: open === undefined ? null : replaced,
  }
  const id = await insertProvidedSession(trx, session, deps.lifetime)
  if (id === undefined) throw new SignInFailure('expired')
  await writeAudit(trx, {
    teamId: null,
    actor: `user:${account.id}`,
    credential: `session:${id}`,
    byStaff: true,
    action: 'session.create',
    target: `session:${id}`,
    after: { proof: 'staff', roles, strong },
    requestId,
    address,
  })
  return id
}
