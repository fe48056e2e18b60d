// A bound on concurrent runs of expensive work, with a bounded queue: beyond it, callers get a retry time instead of
// waiting without end.
import { fail } from './error.ts'

export type SemaphoreOptions = {
  /** Maximum concurrent runs, at least 1. */
  readonly permits: number
  /** Maximum waiting calls; further calls fail immediately. */
  readonly waiting: number
  /** The retry time for the caller if the queue is full. */
  readonly retryAfterSeconds: number
}

export type Semaphore = {
  /**
   * Runs `work` when a permit is free. Throws Failure `unavailable` if the queue is full, and the signal's reason if it is
   * aborted before the work started. Work that has started is never aborted.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Throws as `run` would now: for callers that would otherwise do other work in vain before. */
  requireRoom(): void
  readonly running: number
  readonly waiting: number
}

/** Creates a semaphore; waiting calls are served in their order. */
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

/** The released permit is handed to the next waiting call, so that no other call can take it in between. */
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
