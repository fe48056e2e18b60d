// A bound on how much of one costly thing happens at once, with a queue that is bounded too: past it, callers are told
// to come back instead of waiting without end.
import { fail } from './error.ts'

export type SemaphoreOptions = {
  /** How many run at once, at least 1. */
  readonly permits: number
  /** How many may wait; further ones fail at once. */
  readonly waiting: number
  /** What the caller is told to wait, when the queue is full. */
  readonly retryAfterSeconds: number
}

export type Semaphore = {
  /**
   * Runs `work` when there is room. Throws Failure `unavailable` when the queue is full, and the signal's reason when
   * it is aborted before the work began. Work that began is never cut short.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Throws as `run` would now: for who would have done other work in vain before. */
  requireRoom(): void
  readonly running: number
  readonly waiting: number
}

/** A semaphore; those who wait are served in their order. */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const queue: (() => void)[] = []
  let running = 0

  function leave(): void {
    const next = queue.shift()
    if (next) next()
    else running--
  }

  function enter(signal: AbortSignal | undefined): Promise<void> | void {
    signal?.throwIfAborted()
    if (running < options.permits) {
      running++
      return
    }
    requireRoom()
    return waitIn(queue, signal)
  }

  function requireRoom(): void {
    if (running < options.permits || queue.length < options.waiting) return
    const { retryAfterSeconds } = options
    throw fail('unavailable', 'queue', {
      retryAfterSeconds,
    })
  }

  return {
    async run(work, signal) {
      await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    requireRoom,
    get running() {
      return running
    },
    get waiting() {
      return queue.length
    },
  }
}

/** The permit of whoever leaves is handed over, so that nobody can slip in between. */
function waitIn(queue: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = () => {
      queue.splice(queue.indexOf(enter), 1)
      reject(signal!.reason)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    queue.push(enter)
  })
}
