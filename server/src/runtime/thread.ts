// One piece of work in a thread of its own, for what reads strangers' files or computes for long: it ends after its
// answer, its time or its memory, and takes nothing of the process with it.
import { parentPort, Worker } from 'node:worker_threads'

export type ThreadOptions = {
  /** Processor time, so that a busy machine causes no refusals; the wall clock may show three times as much. */
  readonly timeoutMs: number
  readonly heapMib: number
  /** Of what lies outside of the heap. */
  readonly buffersMib: number
}

/** The work did not end within its time or its memory, or waited for what never comes. */
export class ThreadLimitError extends Error {}

/** V8 bounds a thread's heap by itself, and its time and buffers not at all: they are read this often. */
const checkMs = 50

/**
 * Runs a script that posts one message, and answers that. `data` is its `workerData`, copied. Throws ThreadLimitError
 * beyond the limits, and what the script throws.
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
  const tooMuch = (what: string) => reject(new ThreadLimitError(`more than ${what}`))
  const tooLong = () => reject(new ThreadLimitError(`no answer in ${timeoutMs} ms`))
  const timer = setTimeout(tooLong, 3 * timeoutMs)
  const check = setInterval(async () => {
    // Of a thread that has ended there are none: its exit is reported below.
    const used = await Promise.all([worker.getHeapStatistics(), worker.cpuUsage()]).catch(() => undefined)
    if (!used) return
    const [{ external_memory: bytes }, { user, system }] = used
    if (bytes > buffersMib * 2 ** 20) tooMuch(`${buffersMib} MiB of buffers`)
    if (user + system > timeoutMs * 1000) tooLong()
  }, checkMs)
  worker.once('message', resolve)
  worker.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch(`${heapMib} MiB of heap`) : reject(error),
  )
  worker.once('exit', () => reject(new ThreadLimitError('the thread ended without an answer')))
  return promise.finally(() => {
    clearTimeout(timer)
    clearInterval(check)
    void worker.terminate()
  })
}

/** Called once by the script in the thread: its answer. */
export function answerFromThread(value: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  parentPort?.postMessage(value)
}
