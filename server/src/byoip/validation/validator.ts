// The validator: checks announcements when a registry changes, on request, and at an interval. Any number of processes may
// run it; the leader works, the others are standbys.
import { createLedLoop } from '../../db/led-loop.ts'
import { createLoopComponent, type LoopComponent } from '../../db/loop-component.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { Waker } from '../../db/wake.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Component } from '../../runtime/component.ts'
import type { Log } from '../../runtime/log.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { Irr } from '../../registry/irr.ts'
import type { Rpki } from '../../registry/rpki.ts'
import {
  validateAll,
  validateDue,
  validateTouched,
  type ValidateDeps,
  type ValidationReport,
} from './validate.ts'
import { markIrrDue, readAnnounced } from './validation.store.ts'

export type ValidatorDeps = Omit<ValidateDeps, 'db' | 'rpki' | 'irr'> & {
  readonly postgres: Postgres
  readonly waker: Waker
  readonly rpki: Rpki
  readonly irr: Irr
  readonly log: Log
  readonly metrics: Metrics
  /** Between two sweeps over all announcements, which detect letters and proofs that have expired. */
  readonly intervalMs?: number
}

const defaultIntervalMs = 300_000
/** Interval at which due queries of registries and proofs are read. */
const dueIntervalMs = 5_000
/** Minimum time between requested sweeps. */
const sweepGapMs = 1_000
const runTimeoutMs = 180_000
/** Interval at which the RPKI view gets the announcements whose validity it must not lose in large numbers. */
const announcedIntervalMs = 60_000

/** Inert until started. */
export function createValidator(deps: ValidatorDeps): Component {
  return new Validator(deps)
}

class Validator implements Component {
  readonly name = 'validator'
  readonly #deps: ValidatorDeps
  readonly #validate: ValidateDeps
  readonly #loop: LoopComponent
  /** Runs in standbys too: each process has its own view, and may become the leader after a loss. */
  readonly #announcedLoop: LoopComponent
  readonly #off: (() => void)[] = []
  /** Prefixes that the RPKI has changed since the last run; `all` before the first run. */
  #touched: Set<Prefix> | 'all' = 'all'
  #irrChanged = false
  #sweptAt = -Infinity
  /** Delays a sweep that was requested right after another one, since a request is cheap and a sweep is not. */
  #sweepTimer: NodeJS.Timeout | undefined

  constructor(deps: ValidatorDeps) {
    const { postgres, rpki } = deps
    this.#deps = deps
    this.#validate = { ...deps, db: postgres.owner }
    this.#announcedLoop = createLoopComponent(deps, {
      name: 'announced-prefixes',
      sends: 'nothing',
      intervalMs: announcedIntervalMs,
      run: async () => rpki.setAnnounced(await readAnnounced(postgres.owner)),
    })
    this.#loop = createLedLoop(deps, {
      name: 'validate',
      leadership: 'validator',
      sends: 'nothing',
      intervalMs: dueIntervalMs,
      timeoutMs: runTimeoutMs,
      run: (signal) => this.#run(signal),
    })
  }

  start(): void {
    const { waker, rpki, irr } = this.#deps
    this.#off.push(
      waker.on('validations', () => this.#scheduleSweep()),
      rpki.onChange((touched) => this.#touch(touched)),
      irr.watch(() => {
        this.#irrChanged = true
        this.#loop.wake()
      }),
    )
    this.#announcedLoop.start()
    this.#loop.start()
  }

  async stop(): Promise<void> {
    for (const off of this.#off.splice(0)) off()
    clearTimeout(this.#sweepTimer)
    await Promise.all([this.#announcedLoop.stop(), this.#loop.stop()])
  }

  #touch(touched: readonly Prefix[] | 'all'): void {
    if (touched === 'all' || this.#touched === 'all') this.#touched = 'all'
    else for (const prefix of touched) this.#touched.add(prefix)
    this.#loop.wake()
  }

  #scheduleSweep(): void {
    if (this.#sweepTimer) return
    const waitMs = Math.max(0, this.#sweptAt + sweepGapMs - performance.now())
    this.#sweepTimer = setTimeout(() => {
      this.#sweepTimer = undefined
      this.#touch('all')
    }, waitMs)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const touched = this.#takeTouched()
    try {
      if (this.#irrChanged) {
        this.#irrChanged = false
        await markIrrDue(this.#deps.postgres.owner, this.#deps.now())
      }
      this.#report(await this.#check(touched, signal))
      this.#report(await validateDue(this.#validate, signal))
    } catch (error) {
      this.#touched = 'all'
      throw error
    }
  }

  async #check(
    touched: readonly Prefix[] | 'all',
    signal: AbortSignal,
  ): Promise<ValidationReport | undefined> {
    if (touched === 'all') {
      const report = await validateAll(this.#validate, signal)
      this.#sweptAt = performance.now()
      return report
    }
    return touched.length > 0 ? validateTouched(this.#validate, touched, signal) : undefined
  }

  /** Returns the prefixes to check: all of them if the last sweep is older than the interval. */
  #takeTouched(): readonly Prefix[] | 'all' {
    const touched = this.#touched
    this.#touched = new Set()
    const { intervalMs = defaultIntervalMs } = this.#deps
    const isSweepDue = performance.now() - this.#sweptAt > intervalMs
    return touched === 'all' || isSweepDue ? 'all' : [...touched]
  }

  #report(report: ValidationReport | undefined): void {
    if (!report || report.changed + report.lost + report.refused === 0) return
    const level = report.lost + report.refused > 0 ? 'warn' : 'info'
    this.#deps.log[level]({ ...report }, 'validated')
  }
}
