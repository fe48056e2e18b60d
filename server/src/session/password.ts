// Hashes passwords with limited concurrency: a hash takes 12 ms of a core, so without the limit a flood of sign-ins would
// delay every other sign-in indefinitely.
import type { Semaphore } from '../runtime/semaphore.ts'
import { argon2Hash, argon2Verify } from './password-hash.ts'
import { normalisePassword } from './password-policy.ts'

/** Returns the hash to store, in PHC form. Requests use `hashNewPassword`, which limits concurrency. */
export function hashPassword(password: string): Promise<string> {
  return argon2Hash(normalisePassword(password))
}

/** Returns whether the password matches the hash. For the operator's commands; requests have limited concurrency. */
export function isPassword(passwordHash: string, password: string): Promise<boolean> {
  return argon2Verify(passwordHash, normalisePassword(password))
}

/** Used for the comparison if there is no account, so that the answer takes the same time. */
let absentAccountHash: Promise<string> | undefined

/** Returns whether the password matches the hash; without a hash, returns false after the same work. */
export async function verifyPassword(
  semaphore: Semaphore,
  passwordHash: string | undefined,
  password: string,
): Promise<boolean> {
  absentAccountHash ??= hashPassword('no account has this password')
  const expected = passwordHash ?? (await absentAccountHash)
  const matches = await semaphore.run(() => isPassword(expected, password))
  return matches && passwordHash !== undefined
}
