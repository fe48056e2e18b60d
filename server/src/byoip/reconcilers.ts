// The reconciler role's loops: one for each region, and one that looks for new regions. Any number of processes may run
// them; the lock of a region decides which of them works on it.
import type { Postgres } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { RouteSettings } from './plan.ts'
import { reconcileRegion, type RunReport } from './reconcile.ts'
import { readRegionRows, readRegions, type RegionRecord } from './reconcile.store.ts'
import { RegionLock } from './region-lock.store.ts'
import type { Speaker } from './speaker.ts'

export type ReconcilersDeps = {
  readonly postgres: Postgres
  readonly waker: Waker
  /** The speaker of a region; closed when the loops stop. Throws where its settings make no sense. */
  readonly speakerOf: (region: RegionRecord) => Speaker
  /** How the routes of a region look. */
  readonly routesOf?: (region: RegionRecord) => RouteSettings
  readonly log: Log
  readonly metrics: Metrics
  readonly intervalMs?: number
}

const defaultIntervalMs = 30_000
/** A run that takes longer is reported; every wait in it has a shorter limit of its own. */
const runTimeoutMs = 120_000

/** The loops, inert until started. */
export function createReconcilers(deps: ReconcilersDeps): Component {
  return new Reconcilers(deps)
}

class Reconcilers implements Component {
  readonly name = 'reconcilers'
  readonly #deps: ReconcilersDeps
  readonly #loop: Loop
  readonly #regions = new Map<number, RegionReconciler>()
  readonly #off: (() => void)[] = []

  constructor(deps: ReconcilersDeps) {
    this.#deps = deps
    const { log, metrics, intervalMs = defaultIntervalMs } = deps
    this.#loop = createLoop({ name: 'regions', intervalMs, run: () => this.#look(), log, metrics })
  }

  start(): void {
    const wakeAll = () => {
      // A region that was just added has no loop yet that could be woken.
      this.#loop.wake()
      for (const region of this.#regions.values()) region.wake()
    }
    this.#off.push(this.#deps.waker.on('announcements', wakeAll), this.#deps.waker.on('holds', wakeAll))
    this.#loop.start()
  }

  async stop(): Promise<void> {
    for (const off of this.#off.splice(0)) off()
    await this.#loop.stop()
    await Promise.all([...this.#regions.values()].map((region) => region.stop()))
    this.#regions.clear()
  }

  /** Starts what is new, restarts what is reached otherwise, stops what is gone. One bad region stops no other. */
  async #look(): Promise<void> {
    const records = await readRegions(this.#deps.postgres.owner)
    const present = new Set(records.map(({ id }) => id))
    for (const [id, region] of this.#regions) {
      const record = records.find((one) => one.id === id)
      if (present.has(id) && record && region.isFor(record)) continue
      this.#regions.delete(id)
      await region.stop()
    }
    for (const record of records) if (!this.#regions.has(record.id)) this.#add(record)
  }

  #add(record: RegionRecord): void {
    try {
      const region = new RegionReconciler(this.#deps, record)
      this.#regions.set(record.id, region)
      region.start()
    } catch (error) {
      this.#deps.log.error({ region: record.slug, error }, 'the region has no speaker')
    }
  }
}

/** One region's loop with what it keeps between runs: the lock, the connection to the speaker, who that is. */
class RegionReconciler {
  readonly #deps: ReconcilersDeps
  readonly #region: RegionRecord
  readonly #speaker: Speaker
  readonly #routes: RouteSettings
  readonly #lock: RegionLock
  readonly #loop: Loop
  #asn: number | undefined
  #unwatch: (() => void) | undefined

  constructor(deps: ReconcilersDeps, region: RegionRecord) {
    const { postgres, log, metrics, intervalMs = defaultIntervalMs } = deps
    this.#deps = deps
    this.#region = region
    this.#speaker = deps.speakerOf(region)
    this.#routes = deps.routesOf?.(region) ?? {}
    this.#lock = new RegionLock(postgres, region.id)
    const name = `reconcile:${region.slug}`
    this.#loop = createLoop({
      name,
      intervalMs,
      timeoutMs: runTimeoutMs,
      run: () => this.#run(),
      log,
      metrics,
    })
  }

  isFor(region: RegionRecord): boolean {
    return JSON.stringify(region) === JSON.stringify(this.#region)
  }

  start(): void {
    // A router that was restarted has forgotten everything: it is told again at once, not half a minute later.
    this.#unwatch = this.#speaker.watch(() => this.#loop.wake())
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    this.#unwatch?.()
    await this.#loop.stop()
    await this.#lock.release()
    await this.#speaker.close()
  }

  async #run(): Promise<void> {
    const lease = await this.#lock.hold()
    if (!lease) return
    try {
      this.#report(await reconcileRegion(this.#reconcileDeps(), lease))
    } catch (error) {
      // Who it is, and whether the lock still stands, is asked anew.
      this.#asn = undefined
      await this.#lock.release()
      throw error
    }
  }

  #reconcileDeps() {
    return {
      db: this.#deps.postgres.owner,
      speaker: this.#speaker,
      asn: () => this.#askAsn(),
      routes: this.#routes,
      readRows: readRegionRows,
      now: () => new Date(),
      elapsedMs: () => performance.now(),
    }
  }

  async #askAsn(): Promise<number> {
    return (this.#asn ??= (await this.#speaker.probe()).asn)
  }

  #report(report: RunReport): void {
    const { routes } = this.#deps.metrics
    const region = this.#region.slug
    for (const state of ['desired', 'observed', 'held'] as const) routes.set({ region, state }, report[state])
    const { announced, withdrawn, held, refused, quarantined } = report
    const level = held + refused + quarantined > 0 ? 'warn' : announced + withdrawn > 0 ? 'info' : 'debug'
    this.#deps.log[level]({ region, ...report }, 'reconciled')
  }
}
