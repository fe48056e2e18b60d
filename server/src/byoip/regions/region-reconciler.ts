// The loop of one region with its state between runs: the lock and the connections to its routers. It decides only
// the kind of the next run.
import type { Postgres, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { LeaseLost } from '../../reconcile/lease.ts'
import { isDatabaseAway } from '../../reconcile/run.ts'
import type { Gate } from '../../runtime/gate.ts'
import type { Log } from '../../runtime/log.ts'
import { createLoop, type Loop } from '../../runtime/loop.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { closedRun, type ReportDifferences } from './closed-run.ts'
import { RestartedRouters } from './restore-routers.ts'
import { isBlackhole } from './blackhole-route.ts'
import type { RouteSettings } from './plan.ts'
import { quickRun, type KnownRegion, type QuickReport } from './quick-run.ts'
import type { HandedFiles } from './handed-routes.ts'
import { reconcileRegion, type ReconcileDeps, type RunReport } from './reconcile.ts'
import { readMovingRows, readRegionRows } from './plan-row.store.ts'
import { readByLaterHolders, type RegionRecord } from './reconcile.store.ts'
import type { LastKnownRoutes, LastKnownRoutesFiles, LastKnownRouter } from './last-known-routes.ts'
import { RegionLock, type RegionLease } from './region-lock.store.ts'
import {
  RoutersFailed,
  RunPreempted,
  type Router,
  type RouterAfter,
  type RouterFailure,
} from './region-run.ts'
import { afterEvent, firstSchedule, nextRun, type ScheduleEvent } from './schedule.ts'
import { plainRoute, type Speaker, type SpeakerIdentity } from './speaker.ts'

/** One speaker of a region, with the settings of its routes. */
export type RegionSpeaker = Omit<Router, 'asn' | 'daemon'>

export type RegionReconcilerDeps = {
  readonly postgres: Postgres
  /** Throws if the settings of a speaker are invalid. */
  readonly speakersOf: (region: RegionRecord) => readonly RegionSpeaker[]
  readonly lastKnownRoutes: LastKnownRoutesFiles
  /** Files for agents; not written if absent. */
  readonly handedFiles?: HandedFiles
  readonly gate: Gate<Trx>
  /** Gets the differences from the routers while the gate is closed. */
  readonly report: ReportDifferences
  readonly log: Log
  readonly metrics: Metrics
  readonly intervalMs: number
}

/** Maximum age of the file of the last known routes without a change. */
const keptSaveMs = 600_000
/** How long a router that came up waits for a full run before it gets its last known routes. */
const runAwaitedMs = 1_000
/** A longer run is reported; every wait in it has its own shorter limit. */
const runTimeoutMs = 120_000

export class RegionReconciler {
  readonly #deps: RegionReconcilerDeps
  readonly #region: RegionRecord
  readonly #routers: readonly RegionRouter[]
  readonly #formers: readonly RegionRouter[]
  /** Former routers that did not answer the last full run: only runs at the interval wait for them. */
  #silentFormers: ReadonlySet<Router> = new Set()
  readonly #intervalMs: number
  readonly #lock: RegionLock
  readonly #loop: Loop
  #unwatch: (() => void)[] = []
  #known: (KnownRegion & { readonly lease: RegionLease }) | undefined
  #schedule = firstSchedule
  /** Preempts the full run that is reading; absent while it may not be preempted. */
  #preempt: (() => void) | undefined
  #fullTimer: NodeJS.Timeout | undefined

  /** Routes on the routers as last read by a run, without routes withdrawn since. */
  #kept: LastKnownRoutes | undefined
  /** The routes in the file, and when they were written; milliseconds of performance.now(). */
  #saved: { readonly routers: string; readonly atMs: number } | undefined
  /** The content of the files for agents, and when they were written; milliseconds of performance.now(). */
  readonly #handed = new Map<string, { readonly text: string; readonly atMs: number }>()
  #fullRuns = 0
  #awaited: NodeJS.Timeout | undefined
  readonly #restartedRouters: RestartedRouters

  /** `kept`: the plan of an earlier process, if the database does not answer at the start. */
  constructor(deps: RegionReconcilerDeps, region: RegionRecord, kept?: LastKnownRoutes) {
    const { postgres, log, metrics, intervalMs } = deps
    this.#deps = deps
    this.#region = region
    const routers = deps.speakersOf(region).map((one) => new RegionRouter(one))
    this.#routers = routers.filter(({ former }) => former === undefined)
    this.#formers = routers.filter(({ former }) => former !== undefined)
    this.#restartedRouters = new RestartedRouters({ region: region.slug, routers: this.#routers, log })
    this.#intervalMs = intervalMs
    this.#kept = kept
    this.#lock = new RegionLock(postgres, region.id, { intervalMs, onAcquired: () => this.wakeFully() })
    const name = `reconcile:${region.slug}`
    this.#loop = createLoop({
      name,
      intervalMs,
      timeoutMs: runTimeoutMs,
      sends: { gate: this.#gate(), whileClosed: () => this.#runClosed() },
      run: () => this.#run(),
      log,
      metrics,
    })
  }

  start(): void {
    // A restarted router has lost its routes and gets them back immediately, not after 30 s. The same applies to routes
    // changed by another client, and to sessions: without a session, no neighbor receives a route.
    const wake = () => this.wakeFully()
    this.#unwatch = this.#routers.map(({ name, speaker }) => {
      const onUp = () => {
        this.#restartedRouters.onRestart(name)
        this.wakeFully()
        this.#awaitRun()
      }
      return speaker.watch({ onUp, onTableChange: wake, onNeighborChange: wake })
    })
    this.#loop.start()
    // At the start every router may have been restarted.
    if (this.#kept) this.#awaitRun()
  }

  wake(): void {
    this.#loop.wake()
    if (this.#preempt) this.#preemptIfNeeded().catch(() => {})
  }

  wakeFully(): void {
    this.#after('readAll')
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#awaited)
    for (const unwatch of this.#unwatch.splice(0)) unwatch()
    await this.#loop.stop()
    clearTimeout(this.#fullTimer)
    await this.#lock.release()
    await Promise.all([...this.#routers, ...this.#formers].map(({ speaker }) => speaker.close()))
  }

  /** Without the database there is no run; a restarted router gets its last known routes. */
  #gate(): Gate {
    const { gate } = this.#deps
    return {
      get state() {
        return gate.state
      },
      mayApply: () =>
        gate.mayApply().catch(async (error: unknown) => {
          await this.#giveUp(error)
          throw error
        }),
    }
  }

  /** While the gate is closed: compares, and gives a restarted router only routes confirmed by the database. */
  async #runClosed(): Promise<void> {
    const lease = await this.#hold()
    if (!lease) return
    // The first run after it is a full one.
    this.#known = undefined
    this.#after('readAll')
    try {
      await closedRun(
        {
          ...this.#runDeps(lease),
          region: this.#region.slug,
          known: this.#lastKnown(),
          readRows: readRegionRows,
          announceKnown: (plan) => this.#restartedRouters.announce(plan, 'restore open'),
          report: this.#deps.report,
        },
        lease,
      )
      this.#fullRuns++
    } catch (error) {
      await this.#giveUp(error)
      const problem = (error as Error).message
      await this.#deps.report({ region: this.#region.slug, problem }).catch(() => {})
      throw error
    }
  }

  /** The routes as read before the restore, by this process or the previous one. */
  #lastKnown(): LastKnownRoutes | undefined {
    const { lastKnownRoutes, log } = this.#deps
    const report = (file: string, problem: string) =>
      log.warn({ file, problem }, 'last known routes not used')
    this.#kept ??= lastKnownRoutes
      .load(new Date(), report)
      .find(({ region }) => region.slug === this.#region.slug)
    return this.#kept
  }

  async #run(): Promise<void> {
    const lease = await this.#hold()
    if (!lease) return
    const known = this.#known?.lease === lease ? this.#known : undefined
    if (!known) this.#after('readAll')
    const next = nextRun(this.#schedule, performance.now())
    try {
      if (known && next.kind === 'quick') await this.#runQuickly(lease, known)
      else await this.#runFully(lease, next.kind === 'full' && next.isPreemptible)
    } catch (error) {
      await this.#giveUp(error)
      throw error
    }
  }

  /** After a failed run the routers, the region and the lock are read again. */
  async #giveUp(error: unknown): Promise<void> {
    for (const router of this.#routers) router.invalidate()
    this.#known = undefined
    await this.#lock.release()
    this.#after('failed')
    if (error instanceof LeaseLost && (await this.#isSamePast())) await this.#discardKept()
    if (error instanceof RoutersFailed) this.#reportFailures(error.failures)
    if (isDatabaseAway(error)) await this.#announceKept()
  }

  /** Another epoch is no takeover if the database was restored. */
  #isSamePast(): Promise<boolean> {
    return this.#deps.gate.mayApply().catch(() => false)
  }

  /** No route can be confirmed without the database, so no route is announced while a restore is open. */
  async #announceKept(): Promise<void> {
    if (this.#deps.gate.state === 'closed') return
    await this.#restartedRouters.announce(this.#kept, 'database unavailable')
  }

  async #hold(): Promise<RegionLease | undefined> {
    try {
      const lease = await this.#lock.hold()
      if (!lease) await this.#discardKept()
      return lease
    } catch (error) {
      if (isDatabaseAway(error)) await this.#announceKept()
      throw error
    }
  }

  /**
   * A run detects an unavailable database only by its timeouts, and may already be waiting for it. A router that came up
   * cannot wait that long: its neighbors drop the routes that it has not announced by then.
   */
  #awaitRun(): void {
    clearTimeout(this.#awaited)
    const fullRuns = this.#fullRuns
    this.#awaited = setTimeout(() => {
      if (this.#fullRuns === fullRuns) void this.#announceKept()
    }, runAwaitedMs)
  }

  /**
   * Another process has the lock. It may not have read the routers yet, or be a former session of this one: until then
   * nobody else knows their routes. What it has read is out of date here.
   */
  async #discardKept(): Promise<void> {
    // A restored database may lack announcements that only the routers and these routes still have.
    if (!this.#kept || this.#deps.gate.state === 'closed') return
    const { postgres, lastKnownRoutes } = this.#deps
    const { epoch, routers } = this.#kept
    const read =
      epoch === undefined ? undefined : await readByLaterHolders(postgres.owner, this.#region.id, epoch)
    const unread = routers.filter(({ name }) => read?.has(name) === false)
    if (unread.length === 0) {
      this.#kept = undefined
      this.#saved = undefined
      await lastKnownRoutes.remove(this.#region)
      return
    }
    this.#after('failed')
    if (unread.length === routers.length) return
    this.#kept = { ...this.#kept, routers: unread }
    await this.#saveKept()
  }

  /**
   * Replaces the routes of the routers that were read, or only the routes `among` the prefixes; the others are kept.
   */
  async #remember(
    { epoch }: RegionLease,
    afters: readonly RouterAfter[],
    among?: readonly Prefix[],
  ): Promise<void> {
    const routers = new Map(this.#kept?.routers.map(({ name, routes }) => [name, routes]))
    const read = new Set(among)
    for (const { router, after } of afters) {
      const others = among ? (routers.get(router.name) ?? []).filter(({ prefix }) => !read.has(prefix)) : []
      routers.set(router.name, [...others, ...after.values()])
    }
    this.#keep(
      [...routers].map(([name, routes]) => ({ name, routes })),
      epoch,
    )
    if (!among) await this.#saveKept()
  }

  /** Removes the routes in memory now, and in the file with the next full run. */
  #forget(prefixes: ReadonlySet<Prefix>): void {
    const { routers = [] } = this.#kept ?? {}
    if (prefixes.size === 0 || routers.length === 0) return
    this.#keep(
      routers.map(({ name, routes }) => ({
        name,
        routes: routes.filter(({ prefix }) => !prefixes.has(prefix)),
      })),
      this.#kept?.epoch,
    )
  }

  /** Without black holes: while the database does not answer, it is unknown whether they have ended. */
  #keep(routers: readonly LastKnownRouter[], epoch: number | undefined): void {
    const networks = routers.map(({ name, routes }) => ({
      name,
      routes: routes.filter((route) => !isBlackhole(route)).map(plainRoute),
    }))
    const at = new Date().toISOString()
    this.#kept = { region: this.#region, routers: networks, at, ...(epoch === undefined ? {} : { epoch }) }
  }

  /** Writes the file after a change, and at an interval so that its age is known. */
  async #saveKept(): Promise<void> {
    const routers = JSON.stringify(this.#kept!.routers)
    const atMs = performance.now()
    if (this.#saved?.routers === routers && atMs - this.#saved.atMs < keptSaveMs) return
    await this.#deps.lastKnownRoutes.save(this.#kept!)
    this.#saved = { routers, atMs }
  }

  /** Writes the files for agents, after a change and at an interval so that their age is known. Only they need them: no run fails. */
  async #handOver(
    files: HandedFiles,
    afters: readonly RouterAfter[],
    ends: ReadonlyMap<string, number>,
  ): Promise<void> {
    const { log } = this.#deps
    const region = this.#region.slug
    for (const { router, after } of afters) {
      const routes = [...after.values()]
      const content = {
        routes: routes.filter((route) => !isBlackhole(route)),
        blackholes: routes.flatMap((route) => {
          const endMs = isBlackhole(route) ? ends.get(route.prefix) : undefined
          return endMs === undefined ? [] : [{ route, until: new Date(endMs).toISOString() }]
        }),
      }
      const text = JSON.stringify(content)
      const last = this.#handed.get(router.name)
      const atMs = performance.now()
      if (last?.text === text && atMs - last.atMs < keptSaveMs) continue
      const handed = {
        format: 1,
        region,
        router: router.name,
        at: new Date().toISOString(),
        ...content,
      } as const
      try {
        await files.save(handed)
        this.#handed.set(router.name, { text, atMs })
      } catch (error) {
        log.error({ region, router: router.name, error }, 'routes for the agent could not be written')
      }
    }
  }

  async #runFully(lease: RegionLease, isPreemptible: boolean): Promise<void> {
    const formers = isPreemptible
      ? this.#formers
      : this.#formers.filter((one) => !this.#silentFormers.has(one))
    this.#after('started')
    const dropped = Promise.withResolvers<never>()
    if (isPreemptible) this.#preempt = () => dropped.reject(new RunPreempted())
    try {
      const preempt = dropped.promise
      const { handedFiles } = this.#deps
      const handOver: ReconcileDeps['handOver'] =
        handedFiles === undefined
          ? async () => {}
          : (afters, ends) => this.#handOver(handedFiles, afters, ends)
      const deps = { ...this.#runDeps(lease), formers, readRows: readRegionRows, preempt, handOver }
      const report = await reconcileRegion(deps, lease)
      this.#known = { ...report, lease }
      this.#fullRuns++
      this.#restartedRouters.onReconciled()
      for (const { router } of report.failures) (router as RegionRouter).invalidate()
      const silent = report.failuresOfFormers.map(({ router }) => router)
      this.#silentFormers = isPreemptible ? new Set(silent) : this.#silentFormers.union(new Set(silent))
      this.#after(report.formersContinue ? 'readPartly' : 'read')
      this.#report(report)
    } catch (error) {
      if (!(error instanceof RunPreempted)) throw error
      this.#after('preempted')
    } finally {
      this.#preempt = undefined
    }
  }

  /** Also called for a change in another region. */
  async #preemptIfNeeded(): Promise<void> {
    const moving = await readMovingRows(this.#deps.postgres.owner, this.#region.id)
    if (moving.length > 0) this.#preempt?.()
  }

  async #runQuickly(lease: RegionLease, known: KnownRegion): Promise<void> {
    const report = await quickRun({ ...this.#runDeps(lease), readMoving: readMovingRows }, lease, known)
    if (report.full === 'now') this.wakeFully()
    if (report.full === 'soon') this.#after('changed')
    if (report.full !== undefined) this.#reportQuick(report)
  }

  #after(event: ScheduleEvent): void {
    const { schedule, fullInMs } = afterEvent(this.#schedule, event, performance.now(), this.#intervalMs)
    this.#schedule = schedule
    if (fullInMs === undefined) return
    clearTimeout(this.#fullTimer)
    this.#fullTimer = setTimeout(() => {
      this.#after('timer')
      this.#loop.wake()
    }, fullInMs)
  }

  #runDeps(lease: RegionLease) {
    return {
      db: this.#deps.postgres.owner,
      routers: this.#routers,
      quorum: this.#region.quorum,
      gate: this.#deps.gate,
      kept: {
        forget: (prefixes: ReadonlySet<Prefix>) => this.#forget(prefixes),
        remember: (afters: readonly RouterAfter[], among?: readonly Prefix[]) =>
          this.#remember(lease, afters, among),
      },
      onSettled: (tookMs: readonly number[]) => {
        const region = this.#region.slug
        for (const ms of tookMs) this.#deps.metrics.changeToRouterSeconds.observe({ region }, ms / 1000)
      },
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
    for (const { router, error } of report.failuresOfFormers)
      log.error({ region, router: router.name, error }, 'former router could not be emptied')
    const { neighbors: _, failures, failuresOfFormers: __, formersContinue: ___, ...counts } = report
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
    this.#deps.log[level]({ region: this.#region.slug, ...report }, 'changed rows reconciled')
  }
}

/** A router with its identity, which is queried once per connection. */
class RegionRouter implements Router {
  readonly name: string
  readonly speaker: Speaker
  readonly routes: RouteSettings
  declare readonly former?: number
  #identity: SpeakerIdentity | undefined

  constructor({ name, speaker, routes, former }: RegionSpeaker) {
    this.name = name
    this.speaker = speaker
    this.routes = routes
    if (former !== undefined) this.former = former
  }

  readonly asn = async (): Promise<number> => (await this.#identify()).asn

  readonly daemon = async (): Promise<string> => (await this.#identify()).key

  /** After a reconnect, another daemon may answer. */
  invalidate(): void {
    this.#identity = undefined
  }

  async #identify(): Promise<SpeakerIdentity> {
    return (this.#identity ??= await this.speaker.probe())
  }
}
