// argon2id (RFC 9106; 19 MiB, t=2, p=1, the OWASP minimum) takes 12 ms of a core: computed in threads, so that other
// requests do not wait for a hash. Callers bound the number of requested hashes.
import { availableParallelism } from 'node:os'
import { createThreadPool } from '../runtime/thread-pool.ts'

/** `expected`: a stored hash to compare the password with; without it, the hash is computed. */
export type HashJob = { readonly password: string; readonly expected?: string }

/** Returns the hash in PHC form, or whether `expected` is the password's hash. More threads would only share the cores. */
const compute = createThreadPool<HashJob, string | boolean>(
  new URL('password-hash-thread.ts', import.meta.url),
  availableParallelism(),
)

/** Returns the hash in PHC form. */
export async function argon2Hash(password: string): Promise<string> {
  return (await compute({ password })) as string
}

/** Returns whether the hash is the password's. Rejects if `expected` is not a hash. */
export async function argon2Verify(expected: string, password: string): Promise<boolean> {
  return (await compute({ password, expected })) as boolean
}
