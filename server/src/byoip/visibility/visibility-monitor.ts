// The visibility monitor: follows the sources of visibility for the announced prefixes, and saves a summary for each. Any number of
// processes may run it; the leader connects to the sources, the others are standbys.
import type { Component } from '../../runtime/component.ts'
import type { Log } from '../../runtime/log.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { createLedLoop, type LedLoopDeps } from '../../db/led-loop.ts'
import type { LoopComponent } from '../../db/loop-component.ts'
import type { Postgres } from '../../db/postgres.ts'
import { reportRefused, type RefusedRow } from '../../db/write-rows.ts'
import type { Rpki } from '../../registry/rpki.ts'
import { CollectorView } from './collector-view.ts'
import { visibilityMessages } from './visibility-message.ts'
import type { VisibilitySource } from './visibility-source.ts'
import {
  listTargets,
  saveSources,
  saveSummaries,
  type SavedSummary,
  type VisibilityTarget,
} from './visibility.store.ts'
import { nextRouterChange, summarise, zombieAfterMs, type RouterChange } from './visibility.ts'

export type VisibilityMonitorDeps = LedLoopDeps & {
  readonly postgres: Postgres
  /** In order of preference, not started. */
  readonly sources: readonly VisibilitySource[]
  readonly rpki: Pick<Rpki, 'judge'>
  /** The provider's ASN; null if it is not known. */
  readonly ourAsn: number | null
  readonly now: () => Date
  readonly log: Log
  readonly metrics: Metrics
  readonly intervalMs?: number
}

const defaultIntervalMs = 10_000
const runTimeoutMs = 120_000
/** Summaries that are saved in one transaction. */
const saveBatchSize = 1_000

/** Inert until started. */
export function createVisibilityMonitor(deps: VisibilityMonitorDeps): Component {
  return new VisibilityMonitor(deps)
}

type Followed = { readonly source: VisibilitySource; readonly view: CollectorView }

class VisibilityMonitor implements Component {
  readonly name = 'visibility monitor'
  readonly #deps: VisibilityMonitorDeps
  readonly #loop: LoopComponent
  /** Set while this process leads. */
  #followed: readonly Followed[] | undefined
  /** The inputs of the last saved summary of each announcement, so that unchanged summaries are not computed again. */
  #basis = new Map<number, string>()
  #used: VisibilitySource | undefined

  constructor(deps: VisibilityMonitorDeps) {
    this.#deps = deps
    this.#loop = createLedLoop(deps, {
      name: 'visibility',
      sends: 'nothing',
      intervalMs: deps.intervalMs ?? defaultIntervalMs,
      timeoutMs: runTimeoutMs,
      run: (signal) => this.#run(signal),
      onStandby: () => this.#unfollow(),
    })
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const targets = (await listTargets(this.#deps.postgres.owner)).map((target) => ({
      ...target,
      routerChange: nextRouterChange(target.change, target.regions),
    }))
    const followed = (this.#followed ??= await this.#follow(targets))
    const prefixes = targets.map(({ prefix, originAsn, routerChange: change }) => ({
      prefix,
      originAsn,
      change,
    }))
    for (const { source, view } of followed) {
      view.setPrefixes(prefixes.map(({ prefix }) => prefix))
      for (const { prefix, change } of prefixes) if (change) view.noteChange(prefix, change)
      source.follow(prefixes)
    }
    const used = followed.find(({ source }) => source.status().state === 'current')
    if (used) await this.#saveChanged(targets, used, signal)
    await this.#saveSources(followed, used)
  }

  async #follow(targets: readonly VisibilityTarget[]): Promise<readonly Followed[]> {
    const { sources, ourAsn } = this.#deps
    const followed = sources.map((source) => ({ source, view: new CollectorView({ ourAsn }) }))
    for (const { source, view } of followed) {
      view.setPrefixes(targets.map(({ prefix }) => prefix))
      source.connect(view)
      await source.start?.()
    }
    return followed
  }

  async #unfollow(): Promise<void> {
    const followed = this.#followed ?? []
    this.#followed = undefined
    this.#basis.clear()
    this.#used = undefined
    await Promise.all(followed.map(({ source }) => source.stop?.()))
  }

  async #saveChanged(
    targets: readonly (VisibilityTarget & { routerChange: RouterChange | null })[],
    used: Followed,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#used !== used.source) this.#basis.clear()
    this.#used = used.source
    const now = this.#deps.now()
    const basis = new Map<number, string>()
    const refused: RefusedRow<SavedSummary>[] = []
    let saved: (SavedSummary & { readonly propagatedSeconds: number | null })[] = []
    const save = async () => {
      if (saved.length > 0) refused.push(...(await saveSummaries(this.#deps.postgres.owner, saved)))
      const without = new Set<object>(refused.map(({ row }) => row))
      for (const one of saved)
        if (one.propagatedSeconds !== null && !without.has(one))
          this.#deps.metrics.changeVisibleSeconds.observe(one.propagatedSeconds)
      saved = []
    }
    for (const target of targets) {
      const { id, teamId, prefix, routerChange: change } = target
      const rpki = this.#deps.rpki.judge(prefix, target.originAsn).state
      const collectors = used.view.collectors(prefix.includes(':') ? 6 : 4)
      const isLate = change !== null && now.getTime() - change.at.getTime() >= zombieAfterMs
      const changeKey = `${change?.kind} ${change?.at.getTime()}`
      const key = `${used.view.versionOf(prefix)} ${collectors} ${changeKey} ${isLate} ${rpki}`
      basis.set(id, key)
      if (this.#basis.get(id) === key) continue
      const settledSeconds = settledOf(target, change)
      const summary = summaryOf({ ...target, settledSeconds }, change, used.view, collectors, now)
      const report = visibilityMessages(target, summary, now)
      const propagatedSeconds = settledSeconds === null ? summary.secondsTo80pct : null
      saved.push({ id, teamId, summary, rpki, propagatedSeconds, ...report })
      if (saved.length < saveBatchSize) continue
      signal.throwIfAborted()
      await save()
    }
    await save()
    this.#basis = basis
    reportRefused('summaries of visibility', refused)
  }

  async #saveSources(followed: readonly Followed[], used: Followed | undefined): Promise<void> {
    const { postgres, metrics } = this.#deps
    await saveSources(
      postgres.owner,
      followed.map((one) => {
        const { name, label } = one.source
        const { asOf, problem } = one.source.status()
        return { name, label, is_used: one === used, as_of: asOf, problem }
      }),
    )
    metrics.visibilityRoutes.set(followed.reduce((sum, { view }) => sum + view.size, 0))
  }
}

/** Returns the propagation time that is stored for the same change. */
function settledOf(
  { change: stored, settledSeconds }: VisibilityTarget,
  change: RouterChange | null,
): number | null {
  const isSame = change?.kind === stored?.kind && change?.at.getTime() === stored?.at.getTime()
  return isSame ? settledSeconds : null
}

function summaryOf(
  target: VisibilityTarget,
  change: RouterChange | null,
  view: CollectorView,
  collectors: number,
  now: Date,
) {
  const { sinceMs, ...known } = view.read(target.prefix)
  const evidence = {
    ...known,
    originAsn: target.originAsn,
    change,
    collectors,
    isContinuous: change !== null && sinceMs !== undefined && sinceMs <= change.at.getTime(),
    settledSeconds: target.settledSeconds,
  }
  return summarise(evidence, now.getTime())
}
