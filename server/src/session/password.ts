// Passwords, hashed a few at a time: a hash takes 12 ms of a core, so a flood of sign-ins without the bound would make
// everybody who signs in wait without end.
import type { Semaphore } from '../runtime/semaphore.ts'
import { argon2Hash, argon2Verify } from './password-hash.ts'
import { normalisePassword } from './password-policy.ts'

/** Returns the hash to store, in PHC form. Requests use `hashNewPassword`, which limits concurrency. */
export function hashPassword(password: string): Promise<string> {
  return argon2Hash(normalisePassword(password))
}

/** Whether the password is that of the hash. For the operator's commands; a request is bounded. */
export function isPassword(passwordHash: string, password: string): Promise<boolean> {
  return argon2Verify(passwordHash, normalisePassword(password))
}

/** Compared with if there is no account, so that the answer takes as long as with one. */
let absentAccountHash: Promise<string> | undefined

/** Whether the password is that of the hash; without a hash: no, after the same work. */
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
