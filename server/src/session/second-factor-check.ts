// Whether what somebody typed is a code of his second factor, and then never again: by signing in, and by changing the
// factor itself. Ten wrong ones in a quarter of an hour are all there are, for an account and by all processes together:
// whoever knows the password must not be able to try the million that there are.
import type { Db } from '../db/postgres.ts'
import { limited } from '../runtime/rate-limit.ts'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import { matchRecoveryCode } from './recovery-code.ts'
import {
  findWaitSeconds,
  giveTryBack,
  listUnusedCodes,
  takeTry,
  useCode,
  useStep,
  type StoredFactor,
} from './second-factor.store.ts'
import { totpStepOf } from './totp.ts'

export type FactorDeps = { readonly db: Db; readonly ring: KeyRing }

export type CodeVerdict = 'totp' | 'recovery code' | 'wrong'

/** Uses the code up. `wrong` also where it was used before, or where no factor is on; throws `rate_limited`. */
export async function spendCode(deps: FactorDeps, userId: number, otp: string): Promise<CodeVerdict> {
  const factor = await beginTry(deps, userId)
  if (!factor || factor.pendingUntil !== null) return 'wrong'
  if (await spendStep(deps, userId, factor, otp)) return 'totp'
  const code = matchRecoveryCode(deps.ring, userId, otp, await listUnusedCodes(deps.db, userId))
  if (!code || !(await useCode(deps.db, code))) return 'wrong'
  await giveTryBack(deps.db, userId)
  return 'recovery code'
}

/** The factor that is to be compared with, one try less; undefined where there is none. Throws `rate_limited`. */
export async function beginTry(deps: FactorDeps, userId: number): Promise<StoredFactor | undefined> {
  const factor = await takeTry(deps.db, userId)
  if (factor) return factor
  const seconds = await findWaitSeconds(deps.db, userId)
  if (seconds === undefined) return undefined
  throw limited(seconds)
}

async function spendStep(
  { db, ring }: FactorDeps,
  userId: number,
  { secretSealed, now }: StoredFactor,
  otp: string,
): Promise<boolean> {
  const step = totpStepOf(openSecret(ring, userId, secretSealed), otp, now)
  return step !== undefined && (await useStep(db, userId, step, secretSealed))
}

/** Bound to the user: moved to another row it does not open. */
export const sealSecret = (ring: KeyRing, userId: number, secret: Uint8Array): Buffer =>
  seal(ring, 'totp', secret, String(userId))

export const openSecret = (ring: KeyRing, userId: number, sealed: Uint8Array): Buffer =>
  open(ring, 'totp', sealed, String(userId))
