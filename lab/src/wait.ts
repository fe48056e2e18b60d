// Waits for states, always with a time limit that is reached only in a failure: a failing test prints the state that it
// waited for.
import { setTimeout as sleep } from 'node:timers/promises'

/** Shorter than the limit of a test, longer than anything takes on a busy machine. */
const limitMs = 300_000

/** Calls every `everyMs` until the result is neither undefined nor false; throws after `timeoutMs`, naming `what`. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = limitMs, everyMs = 20 }: { timeoutMs?: number | undefined; everyMs?: number } = {},
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > endMs) throw new Error(`${what}: not within ${timeoutMs} ms`)
    await sleep(everyMs)
  }
}

/** Like `waitFor`, named by the source of the condition. */
export async function until(condition: () => unknown): Promise<void> {
  await waitFor(String(condition), async () => Boolean(await condition()), { everyMs: 5 })
}

/** Returns the result of the work, or rejects with the signal's reason; the work itself continues. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
