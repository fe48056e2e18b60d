// Work that runs after the answer, so that its duration is not visible to the caller. One after the other, each once:
// failures are logged, and queued work is lost if the process is killed. Not for work that must happen.
import { fail } from './error.ts'

export type PostResponseTasks = {
  /** Queues the work. Throws `unavailable` if the queue is full. */
  later(work: () => Promise<void>): void
  /** Resolves when all work queued so far has ended. */
  settled(): Promise<void>
}

export function createPostResponseTasks(
  waitingMax: number,
  onError: (error: unknown) => void,
): PostResponseTasks {
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
