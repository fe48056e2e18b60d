// The reconciler role's loops: one for each region, and one that finds new regions. Any number of processes may run
// them; the lock of a region decides which process works on it.
import type { Postgres, Trx } from '../../db/postgres.ts'
import type { Waker } from '../../db/wake.ts'
import { Targets } from '../../reconcile/targets.ts'
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
  readonly #regions: Targets<RegionRecord, RegionReconciler>
  readonly #off: (() => void)[] = []
  #discoverTimer: NodeJS.Timeout | undefined
  #keptTimer: NodeJS.Timeout | undefined

  constructor(deps: ReconcilersDeps) {
    this.#deps = deps
    const { log, metrics, intervalMs = defaultIntervalMs } = deps
    this.#regions = new Targets({
      create: (record) => this.#create(record),
      onInvalid: ({ slug: region }, error) =>
        log.error({ region, error }, 'speakers of the region are invalid'),
    })
    const run = async () => this.#regions.update(await this.#readRegions())
    this.#loop = createLoop({ name: 'regions', intervalMs, sends: 'nothing', run, log, metrics })
  }

  start(): void {
    const { waker } = this.#deps
    const wakeAll = () => {
      for (const region of this.#regions.parts) region.wake()
      // A region that was just added has no loop to wake yet.
      this.#discoverTimer ??= setTimeout(() => this.#discoverNow(), discoverDelayMs)
    }
    const wakeAllFully = () => {
      for (const region of this.#regions.parts) region.wakeFully()
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
    await this.#regions.stop()
  }

  #discoverNow(): void {
    this.#discoverTimer = undefined
    this.#loop.wake()
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
    if (this.#regions.parts.length > 0) return
    const { lastKnownRoutes, log } = this.#deps
    const report = (file: string, problem: string) =>
      log.warn({ file, problem }, 'last known routes not used')
    for (const plan of lastKnownRoutes.load(new Date(), report))
      this.#regions.add(plan.region, (record) => this.#create(record, plan))
  }

  #create(record: RegionRecord, kept?: LastKnownRoutes): RegionReconciler {
    const intervalMs = this.#deps.intervalMs ?? defaultIntervalMs
    return new RegionReconciler({ ...this.#deps, intervalMs }, record, kept)
  }
}
