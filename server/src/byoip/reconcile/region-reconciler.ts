// The loop of one region with what it keeps between runs: the lock and the connections to its routers. It decides only
// which kind of run comes next.
import type { Postgres } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Log } from '../../runtime/log.ts'
import { createLoop, type Loop } from '../../runtime/loop.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { RouteSettings } from './plan.ts'
import { quickRun, type KnownRegion, type QuickReport } from './quick-run.ts'
import { reconcileRegion, type RunReport } from './reconcile.ts'
import { readMovingRows, readRegionRows, type RegionRecord } from './reconcile.store.ts'
import type { KeptPlan, KeptPlans } from './kept-plan.ts'
import { LeaseLost, RegionLock, type RegionLease } from './region-lock.store.ts'
import { isDatabaseAway, RoutersFailed, RunPreempted, type Router, type RouterFailure } from './region-run.ts'
import type { Speaker } from './speaker.ts'

/** One speaker of a region, with what its routes have. */
export type RegionSpeaker = Omit<Router, 'asn'>

export type RegionReconcilerDeps = {
  readonly postgres: Postgres
  /** Throws if the settings of a speaker are not valid. */
  readonly speakersOf: (region: RegionRecord) => readonly RegionSpeaker[]
  readonly keptPlans: KeptPlans
  readonly log: Log
  readonly metrics: Metrics
  readonly intervalMs: number
}

/** From the last change of a burst to the full run over it, and from the first one at most. */
const fullAfterMs = 1_500
const fullAfterMsMax = 15_000
/** The age that the file of the kept plan may have while nothing changes. */
const keptSaveMs = 600_000
/** From a failed run to the next one; doubled with every further failure. */
const retryAfterMs = 1_000
/** How long a router that came up waits for a full run, before it gets its last known routes. */
const runAwaitedMs = 1_000
/** A run that takes longer is reported; every wait in it has a shorter limit of its own. */
const runTimeoutMs = 120_000

/**
 * A run is quick if a full one under the same lease has succeeded before and none is due: at the start, at its interval,
 * when a router came up, when a hold was decided, after a failure, and soon after a quick run that found rows. Reading a
 * large region takes time: a full run that only its interval has started is preempted by rows that change meanwhile.
 */
export class RegionReconciler {
  readonly #deps: RegionReconcilerDeps
  readonly #region: RegionRecord
  readonly #routers: readonly RegionRouter[]
  readonly #intervalMs: number
  readonly #lock: RegionLock
  readonly #loop: Loop
  #unwatch: (() => void)[] = []
  #known: (KnownRegion & { readonly lease: RegionLease }) | undefined
  /** `later`: started by its interval, so that it may be preempted. */
  #fullDue: 'now' | 'later' | undefined
  /** Drops what the running full run has read so far; absent while it may not be preempted. */
  #preempt: (() => void) | undefined
  #fullTimer: NodeJS.Timeout | undefined
  /** When the first change was made that no full run has seen; milliseconds of performance.now(). */
  #changedMs: number | undefined

  /** Routes on the routers after the last full run of this process, without later changes. */
  #kept: KeptPlan | undefined
  #savedMs: number | undefined
  #fullRuns = 0
  #failedRuns = 0
  #awaited: NodeJS.Timeout | undefined
  /** Routers that have lost their routes while the database was away, and are getting them from `#kept`. */
  readonly #restoring = new Set<string>()

  /** `kept`: what an earlier process knew, if the database does not answer at the start. */
  constructor(deps: RegionReconcilerDeps, region: RegionRecord, kept?: KeptPlan) {
    const { postgres, log, metrics, intervalMs } = deps
    this.#deps = deps
    this.#region = region
    this.#routers = deps.speakersOf(region).map((one) => new RegionRouter(one))
    this.#intervalMs = intervalMs
    this.#kept = kept
    this.#lock = new RegionLock(postgres, region.id, { intervalMs, onAcquired: () => this.wakeFully() })
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
    // A router that was restarted has lost its routes and gets them back at once, not 30 s later. The same applies to routes
    // that another client changed, and to sessions: without one, no neighbor receives a route.
    const wake = () => this.wakeFully()
    const onUp = () => {
      this.wakeFully()
      this.#awaitRun()
    }
    const events = { onUp, onTableChange: wake, onNeighborChange: wake }
    this.#unwatch = this.#routers.map(({ speaker }) => speaker.watch(events))
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
    if (this.#preempt) this.#preemptIfNeeded().catch(() => {})
  }

  wakeFully(): void {
    this.#fullDue = 'now'
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#awaited)
    for (const unwatch of this.#unwatch.splice(0)) unwatch()
    await this.#loop.stop()
    clearTimeout(this.#fullTimer)
    await this.#lock.release()
    await Promise.all(this.#routers.map(({ speaker }) => speaker.close()))
  }

  async #run(): Promise<void> {
    const lease = await this.#hold()
    if (!lease) return
    const known = this.#known?.lease === lease && !this.#fullDue ? this.#known : undefined
    try {
      if (known) await this.#runQuickly(lease, known)
      else await this.#runFully(lease)
    } catch (error) {
      // The routers, the region and the lock are read again.
      for (const router of this.#routers) router.invalidate()
      this.#known = undefined
      await this.#lock.release()
      this.#fullIn(Math.min(retryAfterMs * 2 ** this.#failedRuns++, this.#intervalMs))
      if (error instanceof LeaseLost) this.#dropKept()
      if (error instanceof RoutersFailed) this.#reportFailures(error.failures)
      if (isDatabaseAway(error)) await this.#announceKept()
      throw error
    }
  }

  async #hold(): Promise<RegionLease | undefined> {
    try {
      const lease = await this.#lock.hold()
      if (!lease) this.#dropKept()
      return lease
    } catch (error) {
      if (isDatabaseAway(error)) await this.#announceKept()
      throw error
    }
  }

  /**
   * A database that is silent fails a run only after its time limits, and a run may be waiting for it already. A router
   * that came up does not wait for that long: its neighbours drop what it has not announced by then.
   */
  #awaitRun(): void {
    clearTimeout(this.#awaited)
    const fullRuns = this.#fullRuns
    this.#awaited = setTimeout(() => {
      if (this.#fullRuns === fullRuns) void this.#announceKept()
    }, runAwaitedMs)
  }

  /** Another process knows the region better from now on. */
  #dropKept(): void {
    if (!this.#kept) return
    this.#kept = undefined
    this.#savedMs = undefined
    this.#deps.keptPlans.remove(this.#region)
  }

  /** The file is written again if something changed, and often enough for its age to mean something. */
  #keep({ routers, announced, withdrawn }: RunReport): void {
    const before = new Map(this.#kept?.routers.map((one) => [one.name, one]))
    for (const one of routers) before.set(one.name, one)
    const nowMs = performance.now()
    const isSaved =
      this.#savedMs !== undefined && announced + withdrawn === 0 && this.#changedMs === undefined
    this.#kept = { region: this.#region, routers: [...before.values()], at: new Date().toISOString() }
    this.#restoring.clear()
    if (isSaved && nowMs - this.#savedMs! < keptSaveMs) return
    this.#deps.keptPlans.save(this.#kept)
    this.#savedMs = nowMs
  }

  /**
   * Announces the last known routes to a router that has no routes of the owner. Only then: it was restarted, and no other
   * process has taken the region over, which would have announced them first.
   */
  async #announceKept(): Promise<void> {
    const { log } = this.#deps
    const region = this.#region.slug
    for (const { name, speaker } of this.#routers) {
      const routes = this.#kept?.routers.find((one) => one.name === name)?.routes ?? []
      if (routes.length === 0) continue
      try {
        const present = new Set((await speaker.list()).map(({ prefix }) => prefix))
        if (present.size > 0 && !this.#restoring.has(name)) continue
        const absent = routes.filter(({ prefix }) => !present.has(prefix))
        if (absent.length === 0) continue
        this.#restoring.add(name)
        await speaker.announce(absent)
        const facts = { region, router: name, routes: absent.length, plan_of: this.#kept?.at }
        log.warn(
          facts,
          'announced the last known routes to a router without routes, since the database did not answer',
        )
      } catch (error) {
        log.error({ region, router: name, error }, 'last known routes could not be announced')
      }
    }
  }

  async #runFully(lease: RegionLease): Promise<void> {
    const isPreemptible = this.#fullDue === 'later' && this.#known?.lease === lease && !this.#isOverdue()
    this.#fullDue = undefined
    const dropped = Promise.withResolvers<never>()
    if (isPreemptible) this.#preempt = () => dropped.reject(new RunPreempted())
    try {
      const preempt = dropped.promise
      const report = await reconcileRegion({ ...this.#runDeps(), readRows: readRegionRows, preempt }, lease)
      this.#known = { ...report, lease }
      this.#fullRuns++
      this.#failedRuns = 0
      this.#keep(report)
      for (const { router } of report.failures) (router as RegionRouter).invalidate()
      this.#changedMs = undefined
      this.#fullIn(this.#intervalMs)
      this.#report(report)
    } catch (error) {
      if (!(error instanceof RunPreempted)) throw error
      this.#fullSoon()
    } finally {
      this.#preempt = undefined
    }
  }

  /** A change in another region wakes this one too. */
  async #preemptIfNeeded(): Promise<void> {
    const moving = await readMovingRows(this.#deps.postgres.owner, this.#region.id)
    if (moving.length > 0) this.#preempt?.()
  }

  async #runQuickly(lease: RegionLease, known: KnownRegion): Promise<void> {
    const report = await quickRun({ ...this.#runDeps(), readMoving: readMovingRows }, lease, known)
    this.#withdrawKept(report.gone)
    if (report.full === 'now') this.wakeFully()
    if (report.full === 'soon') this.#fullSoon()
    if (report.full !== undefined) this.#reportQuick(report)
  }

  /** In memory at once; in the file with the full run that follows. */
  #withdrawKept(gone: ReadonlySet<Prefix>): void {
    if (!this.#kept || gone.size === 0) return
    const routers = this.#kept.routers.map(({ name, routes }) => {
      return { name, routes: routes.filter(({ prefix }) => !gone.has(prefix)) }
    })
    this.#kept = { ...this.#kept, routers }
  }

  /** Once a burst of changes is over, or lasts. */
  #fullSoon(): void {
    const nowMs = performance.now()
    this.#changedMs ??= nowMs
    this.#fullIn(Math.min(fullAfterMs, this.#changedMs + fullAfterMsMax - nowMs, this.#intervalMs))
  }

  #isOverdue(): boolean {
    return this.#changedMs !== undefined && performance.now() - this.#changedMs >= fullAfterMsMax
  }

  #fullIn(delayMs: number): void {
    clearTimeout(this.#fullTimer)
    this.#fullTimer = setTimeout(() => {
      this.#fullDue ??= 'later'
      this.#loop.wake()
    }, delayMs)
  }

  #runDeps() {
    return {
      db: this.#deps.postgres.owner,
      routers: this.#routers,
      quorum: this.#region.quorum,
      now: () => new Date(),
      elapsedMs: () => performance.now(),
    }
  }

  #report(report: RunReport): void {
    const { log, metrics } = this.#deps
    const region = this.#region.slug
    for (const state of ['desired', 'observed', 'held'] as const)
      metrics.routes.set({ region, state }, report[state])
    this.#reportFailures(report.failures)
    const { neighbors: _, routers: __, failures, ...counts } = report
    const { announced, withdrawn, held, refused, quarantined } = counts
    const level =
      held + refused + quarantined + failures.length > 0
        ? 'warn'
        : announced + withdrawn > 0
          ? 'info'
          : 'debug'
    log[level]({ region, ...counts }, 'region reconciled')
  }

  #reportFailures(failures: readonly RouterFailure[]): void {
    const { log, metrics } = this.#deps
    const region = this.#region.slug
    for (const { router, error } of failures) {
      metrics.routerUp.set({ region, router: router.name }, 0)
      log.error({ region, router: router.name, error }, 'router could not be reconciled')
    }
  }

  #reportQuick(report: QuickReport): void {
    const level = report.refused > 0 ? 'warn' : report.announced + report.withdrawn > 0 ? 'info' : 'debug'
    const { gone: _, ...counts } = report
    this.#deps.log[level]({ region: this.#region.slug, ...counts }, 'changed rows reconciled')
  }
}

/** A router with its ASN, which is asked for once per connection. */
class RegionRouter implements Router {
  readonly name: string
  readonly speaker: Speaker
  readonly routes: RouteSettings
  #asn: number | undefined

  constructor({ name, speaker, routes }: RegionSpeaker) {
    this.name = name
    this.speaker = speaker
    this.routes = routes
  }

  readonly asn = async (): Promise<number> => (this.#asn ??= (await this.speaker.probe()).asn)

  /** The next answer may come from another daemon. */
  invalidate(): void {
    this.#asn = undefined
  }
}
