// The reconciler role's loops: one for each region, and one that finds new regions. Any number of processes may run
// them; the lock of a region decides which process works on it.
import type { Postgres, Trx } from '../../db/postgres.ts'
import type { Waker } from '../../db/wake.ts'
import type { Component } from '../../runtime/component.ts'
import type { Gate } from '../../runtime/gate.ts'
import type { Log } from '../../runtime/log.ts'
import { createLoop, type Loop } from '../../runtime/loop.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { ReportDifferences } from './closed-run.ts'
import type { HandedFiles } from './handed-routes.ts'
import type { LastKnownRoutes, LastKnownRoutesFiles } from './last-known-routes.ts'
import { readRegions, type RegionRecord } from './reconcile.store.ts'
import { RegionReconciler, type RegionSpeaker } from './region-reconciler.ts'

export type ReconcilersDeps = {
  readonly postgres: Postgres
  readonly waker: Waker
  /** Returns the speakers of a region, which are closed when the loops stop. Throws if their settings are invalid. */
  readonly speakersOf: (region: RegionRecord) => readonly RegionSpeaker[]
  readonly lastKnownRoutes: LastKnownRoutesFiles
  /** Files for agents; not written if absent. */
  readonly handedFiles?: HandedFiles
  readonly gate: Gate<Trx>
  /** Gets the differences from the routers while the gate is closed. */
  readonly report: ReportDifferences
  readonly log: Log
  readonly metrics: Metrics
  readonly intervalMs?: number
}

const defaultIntervalMs = 30_000
/** Delay before looking for new regions, so that the loops that were woken too start first. */
const discoverDelayMs = 250

/**
 * Time for which the start waits for the regions before it reads them from the files of the last process. A silent
 * database fails a query only after seconds, and the neighbors of routers that were restarted too do not wait.
 */
const keptAfterMs = 2_000

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
  #discoverTimer: NodeJS.Timeout | undefined
  #keptTimer: NodeJS.Timeout | undefined

  constructor(deps: ReconcilersDeps) {
    this.#deps = deps
    const { log, metrics, intervalMs = defaultIntervalMs } = deps
    const run = () => this.#discover()
    this.#loop = createLoop({ name: 'regions', intervalMs, sends: 'nothing', run, log, metrics })
  }

  start(): void {
    const { waker } = this.#deps
    const wakeAll = () => {
      for (const region of this.#regions.values()) region.wake()
      // A region that was just added has no loop to wake yet.
      this.#discoverTimer ??= setTimeout(() => this.#discoverNow(), discoverDelayMs)
    }
    const wakeAllFully = () => {
      for (const region of this.#regions.values()) region.wakeFully()
    }
    this.#off.push(
      waker.on('announcements', wakeAll),
      waker.on('approvals', wakeAllFully),
      waker.on('routers', wakeAllFully),
    )
    this.#loop.start()
    this.#keptTimer = setTimeout(() => this.#addKept(), keptAfterMs)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#keptTimer)
    for (const off of this.#off.splice(0)) off()
    clearTimeout(this.#discoverTimer)
    this.#discoverTimer = undefined
    await this.#loop.stop()
    await Promise.all([...this.#regions.values()].map((region) => region.stop()))
    this.#regions.clear()
  }

  #discoverNow(): void {
    this.#discoverTimer = undefined
    this.#loop.wake()
  }

  /**
   * Starts new regions, restarts regions with changed settings, and stops removed ones. An invalid region does not stop
   * the others.
   */
  async #discover(): Promise<void> {
    const records = await this.#readRegions()
    const present = new Set(records.map(({ id }) => id))
    for (const [id, region] of this.#regions) {
      const record = records.find((one) => one.id === id)
      if (present.has(id) && record && region.isFor(record)) continue
      this.#regions.delete(id)
      await region.stop()
    }
    for (const record of records) if (!this.#regions.has(record.id)) this.#add(record)
  }

  /** Without a database at the start, regions come from the files of the last process. */
  async #readRegions(): Promise<RegionRecord[]> {
    try {
      const records = await readRegions(this.#deps.postgres.owner)
      clearTimeout(this.#keptTimer)
      return records
    } catch (error) {
      this.#addKept()
      throw error
    }
  }

  #addKept(): void {
    if (this.#regions.size > 0) return
    const { lastKnownRoutes, log } = this.#deps
    const report = (file: string, problem: string) =>
      log.warn({ file, problem }, 'last known routes not used')
    for (const plan of lastKnownRoutes.load(new Date(), report)) this.#add(plan.region, plan)
  }

  #add(record: RegionRecord, kept?: LastKnownRoutes): void {
    try {
      const intervalMs = this.#deps.intervalMs ?? defaultIntervalMs
      const region = new RegionReconciler({ ...this.#deps, intervalMs }, record, kept)
      this.#regions.set(record.id, region)
      region.start()
    } catch (error) {
      this.#deps.log.error({ region: record.slug, error }, 'speakers of the region are invalid')
    }
  }
}
