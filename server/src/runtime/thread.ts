// One piece of work in a separate thread, for parsing untrusted files and for long computations: it ends with its
// answer, its time limit or its memory limit, without an effect on the process.
import { parentPort, Worker } from 'node:worker_threads'

export type ThreadOptions = {
  /** Processor time, so that a busy machine causes no refusals; the wall clock may show three times as much. */
  readonly timeoutMs: number
  readonly heapMib: number
  /** Memory outside of the heap. */
  readonly buffersMib: number
}

/** The work did not end within its time or memory limit, or waited for something that never happens. */
export class ThreadLimitError extends Error {}

/** The machine was too busy: the work was still going on, and has got less than half of its processor time. */
export class ThreadStarvedError extends ThreadLimitError {}

/** A thread that uses less of the time does not work, but waits. */
const workingShare = 0.01

/** V8 limits a thread's heap by itself, but not its time and buffers: they are read at this interval. */
const checkMs = 50

/**
 * Runs a script that posts one message, and resolves with it. `data` is its `workerData`, copied. Throws ThreadLimitError
 * beyond the limits, and the errors of the script.
 */
export function runInThread<T>(
  script: URL,
  data: unknown,
  { timeoutMs, heapMib, buffersMib }: ThreadOptions,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const worker = new Worker(script, {
    workerData: data,
    env: {},
    execArgv: [],
    // Warnings of a library may contain text of the input and must not reach the log.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: 32 },
  })
  const exceedMemory = (what: string) => reject(new ThreadLimitError(`more than ${what}`))
  const exceedTime = () => reject(new ThreadLimitError(`no answer in ${timeoutMs} ms`))
  let usedMs = 0
  let usedBeforeMs = 0
  const middle = setTimeout(() => (usedBeforeMs = usedMs), 2 * timeoutMs)
  const timer = setTimeout(() => {
    const isWorking = usedMs - usedBeforeMs > timeoutMs * workingShare
    if (!isWorking || usedMs > timeoutMs / 2) return exceedTime()
    reject(new ThreadStarvedError(`${Math.round(usedMs)} ms of processor time in ${3 * timeoutMs} ms`))
  }, 3 * timeoutMs)
  const check = setInterval(async () => {
    // An ended thread has no statistics: its exit is reported below.
    const used = await Promise.all([worker.getHeapStatistics(), worker.cpuUsage()]).catch(() => undefined)
    if (!used) return
    const [{ external_memory: bytes }, { user, system }] = used
    if (bytes > buffersMib * 2 ** 20) exceedMemory(`${buffersMib} MiB of buffers`)
    usedMs = (user + system) / 1000
    if (usedMs > timeoutMs) exceedTime()
  }, checkMs)
  worker.once('message', resolve)
  worker.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? exceedMemory(`${heapMib} MiB of heap`) : reject(error),
  )
  worker.once('exit', () => reject(new ThreadLimitError('the thread ended without an answer')))
  return promise.finally(() => {
    clearTimeout(middle)
    clearTimeout(timer)
    clearInterval(check)
    void worker.terminate()
  })
}

/** Called once by the script in the thread, with its answer. */
export function answerFromThread(value: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  parentPort?.postMessage(value)
}
