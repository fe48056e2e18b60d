// Work that is done after the answer, so that its length tells the caller nothing. One after the other, each once: what
// fails is logged, what the process takes along when it is killed is lost. Not for what must happen.
import { fail } from './error.ts'

export type Afterwards = {
  /** Does the work soon. Throws `unavailable` where too much is waiting. */
  later(work: () => Promise<void>): void
  /** Resolves when all that was given so far is done. */
  settled(): Promise<void>
}

export function createAfterwards(waitingMax: number, onError: (error: unknown) => void): Afterwards {
  let last = Promise.resolve()
  let waiting = 0
  return {
    later(work) {
      if (waiting >= waitingMax)
        throw fail('unavailable', 'queue', {
          retryAfterSeconds: 2,
        })
      waiting++
      last = last
        .then(work)
        .catch(onError)
        .finally(() => waiting--)
    },
    settled: () => last,
  }
}
