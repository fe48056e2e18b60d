// Requires the current password for operations that a stolen session alone must not allow. All of them share one limit per user,
// so that an attacker at an open browser cannot try more passwords through different operations.
import type { Db } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import { findPasswordHash } from './password-check.store.ts'
import { verifyPassword } from './password.ts'

export type PasswordCheckDeps = {
  readonly db: Db
  readonly hashing: Semaphore
  /** Limits wrong passwords per user. */
  readonly wrongPasswords: RateLimiter
}

/** Five in 15 minutes if the setting allows ten sign-ins a minute, which is the default. */
export function createWrongPasswords(signInLimitPerMinute = 10): RateLimiter {
  const perQuarter = Math.ceil(signInLimitPerMinute / 2)
  return new RateLimiter({ perSecond: perQuarter / (15 * 60), burst: perQuarter })
}

/**
 * Returns the stored hash that the password matched, so that a change can be made conditional on it. Throws
 * `wrong_password`, and `rate_limited` after five wrong passwords in 15 minutes.
 */
export async function requirePassword(
  deps: PasswordCheckDeps,
  userId: number,
  password: string,
): Promise<string> {
  const key = `user ${userId}`
  // Counted before hashing; otherwise concurrent requests would all count as the first.
  deps.wrongPasswords.take(key)
  let wrong = false
  try {
    const passwordHash = await findPasswordHash(deps.db, userId)
    wrong = !(await verifyPassword(deps.hashing, passwordHash, password))
    if (wrong || passwordHash === undefined) throw fail('wrong_password', 'current')
    return passwordHash
  } finally {
    if (!wrong) deps.wrongPasswords.giveBack(key)
  }
}
