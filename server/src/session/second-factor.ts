// Sets up, disables and repairs the second factor of the user's own account. Every change is audited and the user notified
// by mail, in its transaction, and every session is revoked: the caller continues in a new one.
import type { SecondFactor, TotpEnrolment } from '@pharos/contract/session/second-factor'
import type { SessionTokens } from '@pharos/contract/session/session'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail, type MailContents } from '../mail/mail.ts'
import { fail, invalid, notFound } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { requirePassword, type PasswordCheckDeps } from './password-check.ts'
import { createRecoveryCodes, recoveryCodeMac } from './recovery-code.ts'
import { replaceSessions, type PersonalOperation, type ReplaceSessionsDeps } from './replace-sessions.ts'
import {
  beginCodeAttempt,
  openFactorSecret,
  sealFactorSecret,
  consumeCode,
  type FactorDeps,
} from './second-factor-check.ts'
import {
  deleteAuthenticator,
  deleteFactors,
  enableFactor,
  findFactorStatus,
  findFactorHolder,
  findHolderByEmail,
  lockFactor,
  replaceCodes,
  savePendingFactor,
  type FactorHolder,
} from './second-factor.store.ts'
import { revokeAllSessions } from './session.store.ts'
import { createTotpSecret, totpSecretText, totpStepOf, totpUri } from './totp.ts'

export type SecondFactorDeps = FactorDeps &
  ReplaceSessionsDeps &
  PasswordCheckDeps & {
    /** The name of the installation in authenticators. */
    readonly issuer: string
  }

const pendingMinutes = 10

export async function getSecondFactor({ db }: FactorDeps, operation: Operation): Promise<SecondFactor> {
  const { enabled, codesLeft } = await findFactorStatus(db, userIdOf(operation))
  return { enabled: enabled?.toISOString() ?? null, recovery_codes_left: codesLeft }
}

/** Starts the setup: sign-in does not change until the first code is confirmed. */
export async function startTotp(
  deps: SecondFactorDeps,
  operation: Operation,
  { current_password }: { readonly current_password: string },
): Promise<TotpEnrolment> {
  const userId = userIdOf(operation)
  await requirePassword(deps, userId, current_password)
  const secret = createTotpSecret()
  return deps.db.transaction().execute(async (trx) => {
    const { email } = await getHolder(trx, userId)
    const expires = await savePendingFactor(
      trx,
      userId,
      sealFactorSecret(deps.ring, userId, secret),
      pendingMinutes,
    )
    if (!expires) throw fail('conflict', 'factorEnabled')
    await writeAudit(trx, { ...auditOf(operation), action: 'totp.start', target: `user:${userId}` })
    return {
      secret: totpSecretText(secret),
      uri: totpUri(secret, deps.issuer, email),
      expires: expires.toISOString(),
    }
  })
}

export type NewCodes = SessionTokens & { readonly recovery_codes: string[] }

/** Enables the factor with the first code; the recovery codes are shown only here. */
export async function confirmTotp(
  deps: SecondFactorDeps,
  operation: PersonalOperation,
  { otp }: { readonly otp: string },
): Promise<NewCodes & { readonly enabled: string }> {
  const userId = userIdOf(operation)
  const pending = await beginCodeAttempt(deps, userId)
  const secretSealed = pending?.secretSealed ?? null
  if (!pending?.pendingUntil || secretSealed === null || pending.pendingUntil <= pending.now)
    throw nothingPending()
  const step = totpStepOf(openFactorSecret(deps.ring, userId, secretSealed), otp, pending.now)
  if (step === undefined) throw wrongCode()
  return deps.db.transaction().execute(async (trx) => {
    const enabled = await enableFactor(trx, userId, step, secretSealed)
    if (!enabled) throw nothingPending()
    const recovery_codes = await renewCodes(trx, deps.ring, userId)
    const change = {
      action: 'totp.enable',
      before: factor(false),
      after: factor(true),
      notice: 'on',
    } as const
    const tokens = await applyFactorChange(trx, deps, operation, change, true)
    return { ...tokens, recovery_codes, enabled: enabled.toISOString() }
  })
}

/** Without `otp` for an account that has passkeys only: its session was opened with one. */
export type FactorProof = { readonly current_password: string; readonly otp?: string }

export async function disableTotp(
  deps: SecondFactorDeps,
  operation: PersonalOperation,
  proof: FactorProof,
): Promise<SessionTokens> {
  const userId = userIdOf(operation)
  await requireProof(deps, userId, proof, 'authenticator')
  return deps.db.transaction().execute(async (trx) => {
    if (!(await deleteAuthenticator(trx, userId))) throw notOn()
    const { has_factor: hasFactor } = await findFactorStatus(trx, userId)
    const change = {
      action: 'totp.disable',
      before: factor(true),
      after: factor(hasFactor),
      notice: hasFactor ? 'authenticator removed' : 'off',
    } as const
    return applyFactorChange(trx, deps, operation, change, hasFactor)
  })
}

/** Creates ten new codes and invalidates the old ones, used or not. */
export async function renewRecoveryCodes(
  deps: SecondFactorDeps,
  operation: PersonalOperation,
  proof: FactorProof,
): Promise<NewCodes> {
  const userId = userIdOf(operation)
  await requireProof(deps, userId, proof, 'any')
  return deps.db.transaction().execute(async (trx) => {
    if (!(await lockFactor(trx, userId))) throw notOn()
    const recovery_codes = await renewCodes(trx, deps.ring, userId)
    const change = { action: 'recovery_codes.renew', notice: 'recovery codes' } as const
    return { ...(await applyFactorChange(trx, deps, operation, change, true)), recovery_codes }
  })
}

/** Checks the password first: without it, the state of the factor is not revealed. */
async function requireProof(
  deps: SecondFactorDeps,
  userId: number,
  proof: FactorProof,
  kind: 'authenticator' | 'any',
): Promise<void> {
  await requirePassword(deps, userId, proof.current_password)
  const { enabled, has_factor: hasFactor } = await findFactorStatus(deps.db, userId)
  if (kind === 'authenticator' ? !enabled : !hasFactor) throw notOn()
  if (proof.otp === undefined && enabled) throw invalid(['body', 'otp'], 'required')
  if (proof.otp !== undefined && (await consumeCode(deps, userId, proof.otp)) === 'wrong') throw wrongCode()
}

/**
 * Removes every second factor of a user who is locked out, passkeys too, for the operator, and revokes the sessions. Returns the address as
 * stored in the account. Throws `not_found`, and `conflict` if it is not enabled.
 */
export async function resetSecondFactor(db: Db, ring: KeyRing, email: string): Promise<string> {
  const holder = await findHolderByEmail(db, email)
  if (!holder) throw notFound(`user ${email}`)
  await db.transaction().execute(async (trx) => {
    if (!(await deleteFactors(trx, holder.userId)))
      throw fail('conflict', 'userWithoutFactor', { email: holder.email })
    await revokeAllSessions(trx, holder.userId, 'second factor')
    await writeAudit(trx, {
      teamId: null,
      actor: 'operator',
      action: 'totp.reset',
      target: `user:${holder.userId}`,
      before: factor(true),
      after: factor(false),
    })
    await queueNotice(trx, ring, holder.email, 'off', 'the provider')
  })
  return holder.email
}

const factor = (enabled: boolean) => ({ second_factor: enabled })

type Change = Pick<AuditEntry, 'action'> & {
  readonly before?: object
  readonly after?: object
  readonly notice: MailContents['second-factor-changed']['change']
}

/** Replaces the sessions, audits the change and notifies the user, in case an attacker made it. */
export async function applyFactorChange(
  trx: Trx,
  deps: SecondFactorDeps,
  operation: PersonalOperation,
  { notice, ...entry }: Change,
  secondFactor: boolean,
): Promise<SessionTokens> {
  const userId = userIdOf(operation)
  const { email } = await getHolder(trx, userId)
  const replacement = { reason: 'second factor', secondFactor } as const
  const { sessionId, tokens } = await replaceSessions(trx, deps, operation, replacement)
  const after = { ...entry.after, session: sessionId }
  await writeAudit(trx, { ...auditOf(operation), ...entry, after, target: `user:${userId}` })
  await queueNotice(trx, deps.ring, email, notice, operation.address)
  return tokens
}

function queueNotice(
  trx: Trx,
  ring: KeyRing,
  to: string,
  change: Change['notice'],
  address: string,
): Promise<void> {
  const content = { change, at: new Date().toISOString(), address }
  return queueMail(trx, ring, { to, teamId: null, template: 'second-factor-changed', content })
}

export async function renewCodes(trx: Trx, ring: KeyRing, userId: number): Promise<string[]> {
  const codes = createRecoveryCodes()
  await replaceCodes(
    trx,
    userId,
    codes.map((code) => recoveryCodeMac(ring, userId, code)),
  )
  return codes
}

export async function getHolder(trx: Db | Trx, userId: number): Promise<FactorHolder> {
  const holder = await findFactorHolder(trx, userId)
  if (!holder) throw fail('unauthenticated', 'credentialInvalid', { credential: 'access token' })
  return holder
}

/** Returns the user's id. Throws `unauthenticated` for an API token. */
function userIdOf({ actor }: Operation): number {
  if (actor.kind === 'user') return actor.userId
  throw fail('unauthenticated', 'personal')
}

const wrongCode = () => invalid(['body', 'otp'], 'wrongCode')
const notOn = () => fail('conflict', 'factorDisabled')
const nothingPending = () => fail('conflict', 'factorPending')
