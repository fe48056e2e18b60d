// argon2id itself (RFC 9106; 19 MiB, t=2, p=1, the OWASP minimum), which takes 12 ms of a core: in threads, so that other
// requests do not wait for a hash. The number of requested hashes is bounded by the callers.
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

/** Returns whether the hash is the password's. Rejects if `expected` is no hash. */
export async function argon2Verify(expected: string, password: string): Promise<boolean> {
  return (await compute({ password, expected })) as boolean
}
