// Signs in with e-mail address and password or with a passkey, and switches the team of a session.
import type { SessionTokens } from '@pharos/contract/session/session'
import type { PasswordSignIn, TeamSwitch } from '@pharos/contract/session/session'
import type { PasskeyAssertion } from '@pharos/contract/session/webauthn'
import { auditOfActor, writeAudit, type ReportRefusal } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { queueStaffMail } from '../mail/staff-mail.ts'
import { errorAt, fail, invalid, notFound, Failure, type FailureDetails } from '../runtime/error.ts'
import { requireEntered } from '../operation/grant.ts'
import type { Actor, UserActor } from '../operation/operation.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import { joinByDomain } from '../team/auto-join.ts'
import { readTeamAccess, requireSignIn } from '../team/team-access.ts'
import { findAccount } from './account.store.ts'
import { beginAttempt, type SignInAttempt, type AttemptDeps } from './attempt.ts'
import { resendConfirmation, type JoinDeps } from './confirm-email.ts'
import { refuseDemoElsewhere } from './demo.ts'
import {
  checkPasskey,
  passkeyRequestOf,
  secondFactorUse,
  signInUse,
  type PasskeyDeps,
  type PasskeyVerdict,
} from './passkey-check.ts'
import { listUserPasskeys } from './passkey.store.ts'
import { verifyPassword } from './password.ts'
import { consumeCode, type CodeVerdict } from './second-factor-check.ts'
import { findFactorStatus } from './second-factor.store.ts'
import type { SessionDeps } from './refresh.ts'
import {
  findSession,
  findSignInAccount,
  insertSession,
  switchTeam,
  type SignInAccount,
} from './session.store.ts'
import { enteringOf, openStaffAccess, type Entering, type TeamNotice } from './staff-access.ts'
import { lockSession } from './staff-access.store.ts'
import { issueTokens } from './tokens.ts'
import { canonicalEmail } from './canonical-email.ts'
import type { RequestSource, ClientSource } from './request-source.ts'

export type SignInDeps = SessionDeps &
  PasskeyDeps &
  AttemptDeps &
  JoinDeps &
  TeamNotice & {
    readonly hashing: Semaphore
    readonly reportRefusal: ReportRefusal
    readonly onBreakGlass: () => void
  }

/** Returns the tokens of a new session. Throws the same error, after the same work, for a wrong password and an unknown account. */
export async function signIn(
  deps: SignInDeps,
  client: ClientSource,
  { email: typed, password, ...given }: PasswordSignIn,
): Promise<SessionTokens> {
  const email = canonicalEmail(typed)
  // Before hashing: a refused attempt must not cost a hash, and without a free slot not even a query.
  deps.hashing.requireRoom()
  const attempt = await beginAttempt(deps, email, client.address)
  const account = await verifiedAccount(deps, client, attempt, email, password)
  // Only with the right password does the answer reveal whether a second factor is enabled.
  const factor = await verifySecondFactor(deps, client, attempt, account, given)
  await attempt.succeeded()
  return openSession(deps, client, account, factor)
}

/**
 * Returns the tokens of a new session. The passkey tells the account, so that no address is tried and none is delayed by wrong passwords.
 * Throws the same error for every passkey that is not accepted, known or not.
 */
export async function signInWithPasskey(
  deps: SignInDeps,
  client: ClientSource,
  assertion: PasskeyAssertion,
): Promise<SessionTokens> {
  deps.attemptsOfClient.take(client.address)
  const verdict = await checkPasskey(deps, signInUse, assertion)
  const account =
    verdict.kind === 'unknown'
      ? undefined
      : await findSignInAccount(deps.db, { userId: verdict.passkey.user_id })
  if (account && verdict.kind === 'accepted') return openSession(deps, client, account, 'passkey')
  if (account) await recordPasskeyRefusal(deps, client, account, verdict)
  throw fail('invalid_credentials', 'passkey')
}

/** The owner of the account reads it, and nothing of a passkey of another account. */
const recordPasskeyRefusal = (
  { db }: SignInDeps,
  client: ClientSource,
  account: SignInAccount,
  verdict: PasskeyVerdict,
): Promise<void> =>
  writeAudit(db, {
    ...auditOfClient(client, account),
    action: verdict.kind === 'cloned' ? 'passkey.cloned' : 'passkey.refuse',
    ...(verdict.kind !== 'unknown' && verdict.passkey.user_id === account.id
      ? { after: { passkey: verdict.passkey.id, name: verdict.passkey.name } }
      : {}),
  })

async function verifiedAccount(
  deps: SignInDeps,
  client: ClientSource,
  attempt: SignInAttempt,
  email: string,
  password: string,
): Promise<SignInAccount> {
  const account = await findSignInAccount(deps.db, { email })
  const matches = await verifyPassword(deps.hashing, account?.passwordHash ?? undefined, password).catch(
    // The password was not compared: too many requests are waiting.
    async (error: unknown) => {
      await attempt.undecided()
      throw error
    },
  )
  if (account && matches) return account
  if (account) recordRefusal(deps, client, account, 'invalid_credentials')
  throw wrongCredentials()
}

const wrongCredentials = () => fail('invalid_credentials', 'signIn')

/** `passkey` also without a password. */
type UsedFactor = Exclude<CodeVerdict, 'wrong'> | 'passkey' | null
type GivenFactor = Pick<PasswordSignIn, 'otp' | 'passkey'>

/** Returns what was used; null for an account without a factor, whatever was sent. A wrong code or passkey is a failure. */
async function verifySecondFactor(
  deps: SignInDeps,
  client: ClientSource,
  attempt: SignInAttempt,
  account: SignInAccount,
  { otp, passkey }: GivenFactor,
): Promise<UsedFactor> {
  if (!account.hasSecondFactor) return null
  if (otp === undefined && passkey === undefined) {
    await attempt.undecided()
    throw fail('otp_required', 'missing', await signInFactorsOf(deps, account.id))
  }
  const verdict = await (
    passkey ? usePasskey(deps, client, account, passkey) : useOtp(deps, client, account, otp!)
  ).catch(async (error: unknown) => {
    await attempt.undecided()
    throw error
  })
  if (verdict !== 'wrong') return verdict
  throw fail('otp_required', passkey ? 'passkey' : 'wrong', await signInFactorsOf(deps, account.id))
}

async function useOtp(
  deps: SignInDeps,
  client: ClientSource,
  account: SignInAccount,
  otp: string,
): Promise<CodeVerdict> {
  const verdict = await consumeCode(deps, account.id, otp)
  if (verdict === 'wrong')
    await writeAudit(deps.db, { ...auditOfClient(client, account), action: 'totp.refuse' })
  return verdict
}

async function usePasskey(
  deps: SignInDeps,
  client: ClientSource,
  account: SignInAccount,
  assertion: PasskeyAssertion,
): Promise<'passkey' | 'wrong'> {
  const verdict = await checkPasskey(deps, secondFactorUse(account.id), assertion)
  if (verdict.kind === 'accepted') return 'passkey'
  await recordPasskeyRefusal(deps, client, account, verdict)
  return 'wrong'
}

/**
 * The second factors of an account whose password was right, or whom an identity provider has named, and a challenge for its passkeys. `state` is what
 * the next request needs.
 */
export async function signInFactorsOf(
  { db, ring, relyingParty }: PasskeyDeps,
  userId: number,
  state: Readonly<Record<string, string>> = {},
): Promise<FailureDetails> {
  const [{ enabled, codesLeft }, passkeys] = await Promise.all([
    findFactorStatus(db, userId),
    listUserPasskeys(db, userId),
  ])
  const usable = passkeys.filter(({ relying_party }) => relying_party === relyingParty?.id)
  const methods = [
    ...(usable.length > 0 ? ['passkey'] : []),
    ...(enabled ? ['totp'] : []),
    ...(codesLeft > 0 ? ['recovery_code'] : []),
  ]
  const options =
    relyingParty && usable.length > 0
      ? { public_key: passkeyRequestOf(ring, relyingParty, secondFactorUse(userId), usable) }
      : {}
  return { errors: [errorAt(['body', 'otp'], 'factorNeeded', { methods, ...options, ...state })] }
}

async function openSession(
  deps: SignInDeps,
  client: ClientSource,
  verified: SignInAccount,
  factor: UsedFactor,
): Promise<SessionTokens> {
  if (!verified.emailConfirmed) await resendConfirmation(deps, verified.id)
  const account = await joinedByDomain(deps, client, verified)
  const teamId = teamToOpenIn(deps, client, account)
  const { id: userId, passwordHash, sessionVersion } = account
  const { address, userAgent } = client
  const secondFactor = factor !== null
  const session = { userId, passwordHash, sessionVersion, teamId, address, userAgent, secondFactor }
  const sessionId = await deps.db.transaction().execute(async (trx) => {
    const id = await insertSession(trx, session, deps.lifetime)
    // The password or the second factor was changed during the comparison.
    if (id === undefined) throw wrongCredentials()
    await writeAudit(trx, {
      ...auditOfClient(client, account),
      action: 'session.create',
      target: `session:${id}`,
      ...(factor === null ? {} : { after: { second_factor: factor } }),
    })
    if (account.is_break_glass && secondFactor) await reportBreakGlass(trx, deps, client, account, id)
    return id
  })
  return currentTokens(deps, sessionId)
}

/** Each use is an entry, a mail to staff and a metric. */
async function reportBreakGlass(
  trx: Trx,
  { ring, onBreakGlass }: SignInDeps,
  client: ClientSource,
  account: SignInAccount,
  sessionId: string,
): Promise<void> {
  const target = `session:${sessionId}`
  await writeAudit(trx, {
    ...auditOfClient(client, account),
    teamId: null,
    action: 'staff.break_glass',
    target,
  })
  const by = (await findAccount(trx, account.id))?.email ?? ''
  const content = {
    change: 'break glass used',
    by,
    at: new Date().toISOString(),
    address: client.address,
  } as const
  await queueStaffMail({ ring, recipients: [] }, trx, 'team-sign-in', content)
  onBreakGlass()
}

/** A team that has verified the domain of the address may become the account's first. */
async function joinedByDomain(
  { db, membersPerTeam }: SignInDeps,
  { requestId, address }: ClientSource,
  account: SignInAccount,
): Promise<SignInAccount> {
  const joining = { membersPerTeam, requestId, address }
  const joined = await db.transaction().execute((trx) => joinByDomain(trx, account.id, joining))
  return { ...account, teamId: account.teamId ?? joined ?? null }
}

/** Throws for an account that may not sign in although the password was right. */
function teamToOpenIn(deps: SignInDeps, client: ClientSource, account: SignInAccount): number {
  try {
    refuseDemoElsewhere(deps, account)
    return teamOfConfirmed(account)
  } catch (error) {
    if (error instanceof Failure) recordRefusal(deps, client, account, error.code)
    throw error
  }
}

function teamOfConfirmed({ emailConfirmed, teamId }: SignInAccount): number {
  if (!emailConfirmed) throw fail('email_unconfirmed', 'account')
  if (teamId === null) throw fail('forbidden', 'noTeam')
  return teamId
}

/**
 * Audits in the team that the session would open in: its admins can act on it. Entries in every team of the user would
 * reveal to each team that there are others.
 */
function recordRefusal(
  { reportRefusal }: SignInDeps,
  client: ClientSource,
  account: SignInAccount,
  code: string,
): void {
  reportRefusal({ ...auditOfClient(client, account), action: 'session.refuse', code })
}

const auditOfClient = ({ requestId, address }: ClientSource, { id, teamId, isStaff }: SignInAccount) => ({
  teamId,
  actor: `user:${id}`,
  byStaff: isStaff,
  target: `user:${id}`,
  requestId,
  address,
})

/**
 * Switches the session to another team of the user, or of a customer that staff enter. Throws `not_found` for a team that the user is
 * not in, `sign_in_required` for one that the session does not open, `reason_required` for staff without a reason or an open access.
 */
export async function changeTeam(
  deps: SignInDeps,
  source: RequestSource,
  actor: Actor | null,
  request: TeamSwitch,
): Promise<SessionTokens> {
  if (actor?.kind !== 'user') throw fail('unauthenticated', 'bearerForTeam')
  const { sessionId } = actor
  const { team_id: teamId } = request
  const entering = enteringOf(request)
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockSession(trx, sessionId))) throw fail('token_not_valid', 'session')
    await enter(trx, deps, source, actor, teamId, entering)
    if ((await switchTeam(trx, sessionId, teamId)) === undefined) throw notFound('team')
    if (teamId === actor.teamId) return
    const { requestId, address } = source
    const about = { action: 'session.switch', target: `session:${sessionId}`, requestId, address }
    await writeAudit(trx, { ...auditOfActor(actor), ...about, teamId, after: { team_id: teamId } })
  })
  return currentTokens(deps, sessionId)
}

/** A member needs no reason, and staff need one once for each access. */
async function enter(
  trx: Trx,
  deps: SignInDeps,
  source: RequestSource,
  actor: UserActor,
  teamId: number,
  entering: Entering | undefined,
): Promise<void> {
  const access = await readTeamAccess(trx, actor, teamId)
  requireSignIn(access)
  if (entering === undefined) return requireEntered(access)
  if (access.isMember) throw invalid(['body', 'reason'], 'reasonOfMember')
  await openStaffAccess(trx, deps, source, actor, teamId, entering)
}

/** Throws `token_not_valid` if the session has ended. */
export async function currentTokens(deps: SessionDeps, sessionId: string): Promise<SessionTokens> {
  const session = await findSession(deps.db, sessionId)
  if (!session?.profile || session.over) throw fail('token_not_valid', 'session')
  const { userId, teamId, sessionVersion, profile, counter } = session
  return issueTokens(deps, { sessionId, userId, teamId, sessionVersion, profile }, counter)
}
