// One attempt to sign in, counted before anything is hashed. Attempts from networks where the account usually signs in are counted
// separately: an attacker elsewhere cannot lock the user out.
import type { Db, Trx } from '../db/postgres.ts'
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
  takeBackFailure,
  type FailureKey,
} from './backoff.store.ts'

export type AttemptDeps = {
  readonly db: Db
  readonly ring: KeyRing
  /** Attempts, counted for the address and for the account apart. */
  readonly attempts: RateLimiter
}

/** An admitted attempt. It counts as failed until one of these is called; a failure needs no call. */
export type Attempt = {
  /** It succeeded: the failures before it are forgotten. */
  succeeded(): Promise<void>
  /** It neither succeeded nor failed (nothing was compared, or a second factor is still to come): as if it had not been. */
  undecided(): Promise<void>
}

/**
 * Begins an attempt at the account of the e-mail address, whether or not there is one. Throws `rate_limited` with the
 * time to wait, and then nothing may be compared.
 */
export async function beginAttempt(deps: AttemptDeps, email: string, address: string): Promise<Attempt> {
  deps.attempts.take(`address ${address}`)
  const [account, origin] = await Promise.all([
    lowerCased(deps.db, email),
    findOrigin(deps.db, email, address),
  ])
  deps.attempts.take(`account ${account} ${origin}`)
  const key = { accountMac: accountMac(deps.ring, account), origin }
  const { began, before } = await deps.db.transaction().execute((trx) => countAttempt(trx, key))
  return {
    succeeded: () => deleteFailures(deps.db, key),
    undecided: () => takeBackFailure(deps.db, key, began, before),
  }
}

async function countAttempt(trx: Trx, key: FailureKey): Promise<{ began: Date; before: Date }> {
  const { known, now } = await lockFailures(trx, key)
  const verdict = judgeAttempt(known, now)
  if (verdict.kind === 'refused') throw limited(verdict.waitMs / 1000)
  await saveFailures(trx, key, verdict.next)
  return { began: now, before: known.latest }
}

/** Forgets all failures at the account: its holder has shown to be the holder in another way. */
export async function forgetFailures(trx: Trx, ring: KeyRing, email: string): Promise<void> {
  await deleteAllFailures(trx, accountMac(ring, await lowerCased(trx, email)))
}

const accountMac = (ring: KeyRing, account: string): Buffer => mac(ring, 'sign-in', account)
