// Threads that take one job at a time and are reused: for computations that would block the event loop. They run at a lower
// priority than the process.
import { parentPort, Worker } from 'node:worker_threads'
import { createSemaphore } from './semaphore.ts'
import { ThreadLimitError } from './thread.ts'
import { lowerThreadPriority } from './thread-priority.ts'

type Answer<Value> = { readonly value: Value } | { readonly error: string }

export type JobLimits = {
  /** Processor time of one job. */
  readonly timeoutMs: number
  readonly heapMib: number
}

/** At which the processor time of a job with limits is read. */
const checkMs = 100

/**
 * Returns a function that runs a job in the script, in one of at most `threads` threads. The script calls
 * `answerJobs`. An idle thread does not keep the process alive. Throws `unavailable` if more than `waiting` jobs wait, and
 * ThreadLimitError for a job beyond the limits, whose thread ends.
 */
export function createThreadPool<Job, Value>(
  script: URL,
  threads: number,
  waiting = Infinity,
  limits?: JobLimits,
): (job: Job) => Promise<Value> {
  const permits = createSemaphore({ permits: threads, waiting, retryAfterSeconds: 1 })
  const idle: Worker[] = []
  return (job) =>
    permits.run(async () => {
      const worker = idle.pop() ?? new Worker(script, { env: {}, execArgv: [], ...resourcesOf(limits) })
      worker.ref()
      const answer = await within(worker, limits, ask<Job, Value>(worker, job))
      worker.unref()
      idle.push(worker)
      if ('error' in answer) throw new Error(answer.error)
      return answer.value
    })
}

const resourcesOf = (limits: JobLimits | undefined) =>
  limits ? { resourceLimits: { maxOldGenerationSizeMb: limits.heapMib, maxYoungGenerationSizeMb: 32 } } : {}

/** Ends the thread if the job takes longer; V8 ends it beyond its memory. */
async function within<T>(worker: Worker, limits: JobLimits | undefined, answer: Promise<T>): Promise<T> {
  if (!limits) return answer
  const used = async () => {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1000
  }
  const before = used()
  let isEnded = false
  const check = setInterval(async () => {
    // An ended thread has no statistics: its answer rejects.
    const ms = await Promise.all([before, used()]).catch(() => undefined)
    isEnded ||= ms !== undefined && ms[1] - ms[0] > limits.timeoutMs
    if (isEnded) void worker.terminate()
  }, checkMs)
  before.catch(() => {})
  try {
    const given = await answer
    // The answer came while the thread was being ended: the thread must not be used again.
    if (isEnded) throw new Error('the job took too long')
    return given
  } catch (error) {
    throw new ThreadLimitError('the thread has ended', { cause: error })
  } finally {
    clearInterval(check)
  }
}

/** Rejects if the thread has ended; it is not used again. */
function ask<Job, Value>(worker: Worker, job: Job): Promise<Answer<Value>> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Value>>()
  const ended = () => reject(new Error('the thread has ended'))
  worker.once('message', resolve).once('error', reject).once('exit', ended)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  worker.postMessage(job)
  return promise.finally(() => worker.off('message', resolve).off('error', reject).off('exit', ended))
}

/** Answers every job of this thread; an error is thrown to the requester with its message. */
export function answerJobs<Job, Value>(compute: (job: Job) => Value): void {
  lowerThreadPriority()
  parentPort!.on('message', (job: Job) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
    parentPort!.postMessage(answerTo(compute, job))
  })
}

function answerTo<Job, Value>(compute: (job: Job) => Value, job: Job): Answer<Value> {
  try {
    return { value: compute(job) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}
