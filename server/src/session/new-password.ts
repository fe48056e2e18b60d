// Checks and hashes a new password, for every operation that sets one.
import { invalid, failWith } from '../runtime/error.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import type { BreachedPasswords } from './breached-passwords.ts'
import { hashPassword } from './password.ts'
import { objectionToPasswordInThread } from './password-policy.ts'

export type NewPasswordDeps = {
  readonly hashing: Semaphore
  /** Undefined if the operator has no such file. */
  readonly breached: BreachedPasswords | undefined
  /** Names of the provider, which attackers try first. */
  readonly providerNames: readonly string[]
}

type Place = readonly ['body', string]

/** Throws a 422 at the field if the user with that address may not have the password. Call it before hashing. */
export async function checkNewPassword(
  deps: NewPasswordDeps,
  email: string,
  password: string,
  loc: Place = ['body', 'new_password'],
): Promise<void> {
  const context = { email, names: deps.providerNames }
  const objection = await objectionToPasswordInThread(password, context)
  if (objection) throw failWith('invalid', [{ loc, ...objection }])
  if (await deps.breached?.has(password)) throw invalid(loc, 'breached')
}

/** Returns the hash of a password that was checked. */
export function hashNewPassword(deps: NewPasswordDeps, password: string): Promise<string> {
  return deps.hashing.run(() => hashPassword(password))
}
