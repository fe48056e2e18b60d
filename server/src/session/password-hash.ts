// argon2id itself (RFC 9106; 19 MiB, t=2, p=1, the OWASP minimum), which takes 12 ms of a core: in threads that the kernel
// runs when nobody else wants the core, so that other calls wait for no hash. How many may be wanted is not bounded here.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { createSemaphore } from '../runtime/semaphore.ts'

/** `expected`: a stored hash, which the password is compared with; without one, the hash is made. */
export type HashJob = { readonly password: string; readonly expected?: string }

/** The hash in PHC form, or whether it is that of the password. */
export type HashAnswer = { readonly value: string | boolean } | { readonly error: string }

/** More would only share the cores. */
const threads = createSemaphore({
  permits: availableParallelism(),
  waiting: Infinity,
  retryAfterSeconds: 1,
})
const idle: Worker[] = []
const script = new URL('password-hash-thread.ts', import.meta.url)

export async function argon2Hash(password: string): Promise<string> {
  return (await compute({ password })) as string
}

/** Rejects where `expected` is no hash. */
export async function argon2Verify(expected: string, password: string): Promise<boolean> {
  return (await compute({ password, expected })) as boolean
}

function compute(job: HashJob): Promise<string | boolean> {
  return threads.run(async () => {
    const worker = idle.pop() ?? new Worker(script, { env: {}, execArgv: [] })
    // A process ends with its work: one that only has idle threads has none.
    worker.ref()
    const answer = await ask(worker, job)
    worker.unref()
    idle.push(worker)
    if ('error' in answer) throw new Error(answer.error)
    return answer.value
  })
}

/** Rejects where the thread has ended, which is then not used again. */
function ask(worker: Worker, job: HashJob): Promise<HashAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HashAnswer>()
  const ended = () => reject(new Error('the thread that hashes has ended'))
  worker.once('message', resolve).once('error', reject).once('exit', ended)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  worker.postMessage(job)
  return promise.finally(() => worker.off('message', resolve).off('error', reject).off('exit', ended))
}
