// "Your current password, please": before what a found or stolen session alone must not be able to do. All that ask share
// one count, so that nobody who sits at somebody's open browser can try more passwords by changing the question.
import type { Db } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import { findPasswordHash } from './password-check.store.ts'
import { verifyPassword } from './password.ts'

export type PasswordCheckDeps = {
  readonly db: Db
  readonly hashing: Semaphore
  /** Wrong passwords, counted for each user. */
  readonly wrongPasswords: RateLimiter
}

/** Five in 15 minutes where ten may sign in a minute, which is the setting's default. */
export function createWrongPasswords(signInLimitPerMinute = 10): RateLimiter {
  const perQuarter = Math.ceil(signInLimitPerMinute / 2)
  return new RateLimiter({ perSecond: perQuarter / (15 * 60), burst: perQuarter })
}

/**
 * The stored hash that the password was found to be of, for who wants to change it and nothing newer; throws
 * `wrong_password`, and `rate_limited` after five wrong ones in 15 minutes.
 */
export async function requirePassword(
  deps: PasswordCheckDeps,
  userId: number,
  password: string,
): Promise<string> {
  const key = `user ${userId}`
  // Taken before the hash, or those that are tried at once would all be the first.
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
