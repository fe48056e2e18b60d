// One attempt to sign in, counted before anything is hashed. Attempts from networks from which the account usually signs in are
// counted separately: an attacker elsewhere cannot lock the user out.
import type { Db, Trx } from '../db/postgres.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { limited, type RateLimiter } from '../runtime/rate-limit.ts'
import { mac, type KeyRing } from '../runtime/secrets.ts'
import { judgeAttempt } from './backoff.ts'
import {
  deleteAllFailures,
  deleteFailures,
  findOrigin,
  lowerCased,
  lockFailures,
  saveFailures,
  removeAttempt,
  type FailureKey,
} from './backoff.store.ts'

export type AttemptDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly attemptsOfClient: ClientLimiter
  readonly attemptsOfAccount: RateLimiter
}

/** An admitted attempt. It counts as failed unless one of these functions is called. */
export type SignInAttempt = {
  /** The sign-in succeeded: deletes the earlier failures. */
  succeeded(): Promise<void>
  /**
   * Neither succeeded nor failed (the password was not compared, or a second factor is required): removes the attempt.
   */
  undecided(): Promise<void>
}

/**
 * Begins a sign-in attempt for the e-mail address, whether or not the account exists. Throws `rate_limited` with the
 * time to wait; the caller must then not compare the password.
 */
export async function beginAttempt(
  deps: AttemptDeps,
  email: string,
  address: string,
): Promise<SignInAttempt> {
  deps.attemptsOfClient.take(address)
  const [account, origin] = await Promise.all([
    lowerCased(deps.db, email),
    findOrigin(deps.db, email, address),
  ])
  deps.attemptsOfAccount.take(`${account} ${origin}`)
  const key = { accountMac: accountMac(deps.ring, account), origin }
  const { began, before } = await deps.db.transaction().execute((trx) => countAttempt(trx, key))
  return {
    succeeded: () => deleteFailures(deps.db, key),
    undecided: () => removeAttempt(deps.db, key, began, before),
  }
}

async function countAttempt(trx: Trx, key: FailureKey): Promise<{ began: Date; before: Date }> {
  const { known, now } = await lockFailures(trx, key)
  const verdict = judgeAttempt(known, now)
  if (verdict.kind === 'refused') throw limited(verdict.waitMs / 1000)
  await saveFailures(trx, key, verdict.next)
  return { began: now, before: known.latest }
}

/** Deletes all failures of the account after its owner was authenticated in another way. */
export async function clearFailures(trx: Trx, ring: KeyRing, email: string): Promise<void> {
  await deleteAllFailures(trx, accountMac(ring, await lowerCased(trx, email)))
}

const accountMac = (ring: KeyRing, account: string): Buffer => mac(ring, 'sign-in', account)
