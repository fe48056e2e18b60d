// Passwords: argon2id (RFC 9106; 19 MiB, t=2, p=1, the OWASP minimum), computed a few at a time. One takes about 12 ms
// of a core, so a flood of sign-ins without the bound would starve every other call.
import { hash, verify } from '@node-rs/argon2'
import type { Semaphore } from '../runtime/semaphore.ts'
import { normalisePassword } from './password-policy.ts'

/** The library's default algorithm is argon2id. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The hash that is stored, in PHC form. Whoever does it for a request takes `hashNewPassword`, which is bounded. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalisePassword(password), options)
}

/** Whether the password is that of the hash. For the operator's commands; a request is bounded. */
export function isPassword(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, normalisePassword(password))
}

/** Compared against where there is no account, so that the answer takes as long as with one. */
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
