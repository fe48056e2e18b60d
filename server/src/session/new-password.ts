// A password that somebody chooses: judged by the policy and by the lists, then hashed. The same wherever one is chosen.
import { invalid, failWith } from '../runtime/error.ts'
import type { Semaphore } from '../runtime/semaphore.ts'
import type { BreachedPasswords } from './breached-passwords.ts'
import { isCommonPassword } from './common-passwords.ts'
import { hashPassword } from './password.ts'
import { objectionToPassword } from './password-policy.ts'

export type NewPasswordDeps = {
  readonly hashing: Semaphore
  /** Undefined where the operator keeps no such file. */
  readonly breached: BreachedPasswords | undefined
  /** The provider's, which everybody would try. */
  readonly providerNames: readonly string[]
}

type Place = readonly ['body', string]

/** Throws a 422 at the field when the user with that address may not have the password. Before anything is hashed. */
export async function checkNewPassword(
  deps: NewPasswordDeps,
  email: string,
  password: string,
  loc: Place = ['body', 'new_password'],
): Promise<void> {
  const context = { email, names: deps.providerNames, isCommon: isCommonPassword }
  const objection = objectionToPassword(password, context)
  if (objection) throw failWith('invalid', [{ loc, ...objection }])
  if (await deps.breached?.has(password)) throw invalid(loc, 'breached')
}

/** The hash of a password that was checked. */
export function hashNewPassword(deps: NewPasswordDeps, password: string): Promise<string> {
  return deps.hashing.run(() => hashPassword(password))
}
