// Verifies a code of the user's second factor, once per code: at sign-in, and when the factor is changed. At most ten wrong codes in
// 15 minutes, per account and counted over all processes: an attacker with the password must not be able to try all codes.
import type { Db } from '../db/postgres.ts'
import { limited } from '../runtime/rate-limit.ts'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import { matchRecoveryCode } from './recovery-code.ts'
import {
  findWaitSeconds,
  refundCodeAttempt,
  listUnusedCodes,
  countCodeAttempt,
  useCode,
  useStep,
  type StoredFactor,
} from './second-factor.store.ts'
import { totpStepOf } from './totp.ts'

export type FactorDeps = { readonly db: Db; readonly ring: KeyRing }

export type CodeVerdict = 'totp' | 'recovery code' | 'wrong'

/** Consumes the code. Returns `wrong` also for a used code, or if no factor is enabled; throws `rate_limited`. */
export async function consumeCode(deps: FactorDeps, userId: number, otp: string): Promise<CodeVerdict> {
  const factor = await beginCodeAttempt(deps, userId)
  if (!factor) return 'wrong'
  if (await consumeStep(deps, userId, factor, otp)) return 'totp'
  const code = matchRecoveryCode(deps.ring, userId, otp, await listUnusedCodes(deps.db, userId))
  if (!code || !(await useCode(deps.db, code))) return 'wrong'
  await refundCodeAttempt(deps.db, userId)
  return 'recovery code'
}

/** Counts an attempt and returns the factor to compare with; undefined without a factor. Throws `rate_limited`. */
export async function beginCodeAttempt(deps: FactorDeps, userId: number): Promise<StoredFactor | undefined> {
  const factor = await countCodeAttempt(deps.db, userId)
  if (factor) return factor
  const seconds = await findWaitSeconds(deps.db, userId)
  if (seconds === undefined) return undefined
  throw limited(seconds)
}

async function consumeStep(
  { db, ring }: FactorDeps,
  userId: number,
  { secretSealed, pendingUntil, now }: StoredFactor,
  otp: string,
): Promise<boolean> {
  if (secretSealed === null || pendingUntil !== null) return false
  const step = totpStepOf(openFactorSecret(ring, userId, secretSealed), otp, now)
  return step !== undefined && (await useStep(db, userId, step, secretSealed))
}

/** Bound to the user: it cannot be decrypted in the row of another user. */
export const sealFactorSecret = (ring: KeyRing, userId: number, secret: Uint8Array): Buffer =>
  seal(ring, 'totp', secret, String(userId))

export const openFactorSecret = (ring: KeyRing, userId: number, sealed: Uint8Array): Buffer =>
  open(ring, 'totp', sealed, String(userId))
