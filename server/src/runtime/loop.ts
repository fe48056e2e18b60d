// The single form of background work: a run takes no input, reads the desired and the observed state, and changes the
// observed state into the desired one. It runs at an interval and when woken, never twice at a time, and never retries by
// itself: the next run is the retry.
import { Failure } from './error.ts'
import type { Sends } from './gate.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** `Read`: the result of `read`, passed to the run. */
export type LoopOptions<Read = void> = {
  /** Names the loop in the log and in the metrics; a loop for each region is named `reconcile:ams`. */
  readonly name: string
  /** Delay from the end of a run to the next one, unless the loop is woken before. */
  readonly intervalMs: number
  /** After this time the signal of the run is aborted. A run that ignores it continues and blocks the loop. */
  readonly timeoutMs?: number
  /** Required, so that no new loop is forgotten: whether a run has effects outside of the database, see runtime/gate.ts. */
  readonly sends: 'nothing' | Sends
  /**
   * Reads for the run while the gate answers, so that an urgent loop waits for the database once. It must not write.
   */
  readonly read?: () => Promise<Read>
  /** One run. The signal is aborted by `stop()` and by the timeout. */
  readonly run: (signal: AbortSignal, read: Read) => Promise<void>
  readonly log: Log
  readonly metrics: Pick<Metrics, 'loopRuns' | 'loopSeconds' | 'loopLastSuccess' | 'loopInterval'>
}

export type Loop = {
  readonly name: string
  /** Runs immediately, then periodically. No effect if already started. */
  start(): void
  /** Aborts the current run and resolves when it has ended; no run starts after that. */
  stop(): Promise<void>
  /** Requests a run that starts from now on. Any number of wakes during a run cause one further run. */
  wake(): void
  /** Like `wake`, started or not; resolves when that run has ended, rejects with its error. */
  runOnce(): Promise<void>
}

/** A loop; inert until it is started. */
export function createLoop<Read = void>(options: LoopOptions<Read>): Loop {
  return new RunningLoop(options)
}

/** A busy machine or a restart of the database fails a run or two: as many are logged as a warning, without a stack. */
const quietFailures = 2

class RunningLoop<Read> implements Loop {
  readonly name: string
  readonly #options: LoopOptions<Read>
  #started = false
  #timer: NodeJS.Timeout | undefined
  /** The run that was requested and has not started. */
  #next: PromiseWithResolvers<void> | undefined
  #running: Promise<void> | undefined
  #abort: AbortController | undefined
  /** Failed runs since the last success. */
  #failures = 0

  constructor(options: LoopOptions<Read>) {
    this.name = options.name
    this.#options = options
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    const { metrics, intervalMs } = this.#options
    metrics.loopInterval.set({ loop: this.name }, intervalMs / 1000)
    this.wake()
  }

  async stop(): Promise<void> {
    this.#started = false
    clearTimeout(this.#timer)
    this.#next?.reject(new Error(`the loop ${this.name} was stopped`))
    this.#next = undefined
    this.#abort?.abort(new Error(`the loop ${this.name} is stopping`))
    await this.#running
    // A loop that ended on purpose, such as that of a removed region, is not late.
    const { loopInterval, loopLastSuccess } = this.#options.metrics
    for (const gauge of [loopInterval, loopLastSuccess]) gauge.remove({ loop: this.name })
  }

  wake(): void {
    if (this.#started) this.#ask().catch(() => {})
  }

  runOnce(): Promise<void> {
    return this.#ask()
  }

  #ask(): Promise<void> {
    this.#next ??= Promise.withResolvers<void>()
    const { promise } = this.#next
    this.#running ??= this.#runAll()
    return promise
  }

  async #runAll(): Promise<void> {
    clearTimeout(this.#timer)
    // The caller of #ask has the promise of the run before the run begins.
    await Promise.resolve()
    while (this.#next) {
      const asked = this.#next
      this.#next = undefined
      await this.#runOne().then(asked.resolve, asked.reject)
    }
    this.#running = undefined
    if (this.#started) this.#timer = setTimeout(() => this.wake(), this.#options.intervalMs)
  }

  async #runOne(): Promise<void> {
    const { metrics, timeoutMs } = this.#options
    const began = performance.now()
    const abort = (this.#abort = new AbortController())
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => abort.abort(new Error(`${this.name} took longer than ${timeoutMs} ms`)), timeoutMs)
    try {
      const [{ run, result }, read] = await Promise.all([this.#admitted(), this.#options.read?.()])
      await run?.(abort.signal, read as Read)
      metrics.loopRuns.inc({ loop: this.name, result })
      metrics.loopLastSuccess.set({ loop: this.name }, Date.now() / 1000)
      this.#failures = 0
    } catch (error) {
      this.#report(error, abort.signal)
      throw error
    } finally {
      clearTimeout(timer)
      this.#abort = undefined
      metrics.loopSeconds.observe({ loop: this.name }, (performance.now() - began) / 1000)
    }
  }

  /** The only place that checks the gate for a run. */
  async #admitted(): Promise<{ run: LoopOptions<Read>['run'] | undefined; result: 'ok' | 'held' }> {
    const { run, sends } = this.#options
    if (sends === 'nothing' || (await sends.gate.mayApply())) return { run, result: 'ok' }
    return { run: sends.whileClosed, result: 'held' }
  }

  /** A run that ended because the loop is being stopped did not fail. */
  #report(error: unknown, signal: AbortSignal): void {
    const { log, metrics } = this.#options
    if (signal.aborted && error === signal.reason && !this.#started) {
      log.debug({ loop: this.name }, 'run aborted by the stop')
      return
    }
    metrics.loopRuns.inc({ loop: this.name, result: 'failed' })
    if (++this.#failures <= quietFailures && error instanceof Failure && error.code === 'unavailable') {
      const { message, cause } = error
      log.warn(
        { loop: this.name, reason: message, cause: cause instanceof Error ? cause.message : undefined },
        'dependency unavailable; the next run is the retry',
      )
      return
    }
    log.error({ loop: this.name, error }, 'run failed; the next run is the retry')
  }
}
