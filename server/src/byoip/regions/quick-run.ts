// The quick run of one region: only the rows that changed and were not handled by a run yet, and only their prefixes on the
// routers. It uses the same plan, guard and fence as the full run and never does more than it. Anything that the guard could
// stop with the whole region in view is left to the full run, which follows every quick run that found rows.
import type { Db } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { prefixesOf } from './former-speakers.ts'
import { readPrefix, type PlanRow } from './plan.ts'
import { movingMax } from './plan-row.store.ts'
import { saveObserved } from './reconcile.store.ts'
import type { RegionLease, RegionMemory } from './region-lock.store.ts'
import {
  byPrefix,
  callAll,
  checksOf,
  isNoChange,
  nothingSent,
  observedRowsOf,
  planRegion,
  quorumOf,
  requireFresh,
  sendAll,
  changesForRouters,
  storeFailure,
  type Planned,
  type Router,
  type RouterAfter,
  type RouterView,
  type RunDeps,
} from './region-run.ts'
import type { Neighbor } from './speaker.ts'

export type QuickRunDeps = RunDeps & {
  /** The rows in motion, at most one more than `movingMax`: readMovingRows(). */
  readonly readMoving: (db: Db, regionId: number) => Promise<readonly PlanRow[]>
}

/** State of the region after the last full run under the same lease. Without it there is no quick run. */
export type KnownRegion = {
  /** Number of routes of the owner on its routers. */
  readonly observed: number
  readonly quarantined: number
  /** For each router that could be read; the others are left to the full run. */
  readonly neighbors: ReadonlyMap<string, readonly Neighbor[]>
}

export type QuickReport = Record<'moving' | 'announced' | 'withdrawn' | 'refused', number> & {
  /** When the full run must follow: `soon` to read the whole region again, `now` if this run left work to it. */
  readonly full: 'soon' | 'now' | undefined
}

const idle = {
  moving: 0,
  announced: 0,
  withdrawn: 0,
  refused: 0,
  full: undefined,
} as const

/** Runs once under the lease. Rejects with the error of the run, after storing that the region could not be checked. */
export function quickRun(deps: QuickRunDeps, lease: RegionLease, known: KnownRegion): Promise<QuickReport> {
  return storeFailure(deps.db, lease, () => run(deps, lease, known))
}

async function run(deps: QuickRunDeps, lease: RegionLease, known: KnownRegion): Promise<QuickReport> {
  const { db } = deps
  const startedMs = deps.elapsedMs()
  const startedAt = deps.now()
  const ageMs = () => deps.elapsedMs() - startedMs
  const rows = await deps.readMoving(db, lease.regionId)
  if (rows.length === 0) return idle
  if (rows.length > movingMax) return { ...idle, moving: rows.length, full: 'now' }
  const prefixes = rows.map(({ prefix }) => readPrefix(prefix)).filter((prefix) => prefix !== undefined)
  const routers = deps.routers.filter(({ name }) => known.neighbors.has(name))
  const answers = Promise.all([readBefore(routers, prefixes, known), lease.readMemory()])
  // Awaited later, within the fence that is taken meanwhile.
  answers.catch(() => {})
  const { planned, sends, sent, needsFullRun, quorum, views, memory, failures } = await lease.fence(
    db,
    async (trx) => {
      const [{ answers: views, failures }, memory] = await answers
      const quorum = quorumOf(deps, memory)
      const planned = planRegion(lease, rows, views, memory, { at: startedAt, routes: known.observed })
      requireFresh(ageMs())
      const needsFullRun = requiresFullRun(planned, memory, known)
      const sends = changesForRouters(planned, quorum, needsFullRun)
      const sent = isNoChange(sends) ? nothingSent : await sendAll(trx, deps, lease, planned, sends, ageMs)
      return {
        planned,
        sends,
        sent,
        needsFullRun,
        quorum,
        views,
        memory,
        failures: [...failures, ...sent.failures],
      }
    },
  )
  const after = isNoChange(sends)
    ? {
        answers: views.map(({ router, observed }) => ({ router, after: byPrefix(observed) })),
        failures: [],
      }
    : await readAfter(views, prefixes)
  const failed = [...failures, ...after.failures].map(({ router }) => router)
  const afters = after.answers.filter(({ router }) => !failed.includes(router))
  const active = deps.routers.filter(({ name }) => !memory.routers.get(name)?.drained)
  const unread = active.filter((router) => !afters.some((one) => one.router === router)).length
  const undecided = new Set(needsFullRun ? planned.plans.flatMap(({ plan }) => plan.withdraw) : [])
  await deps.kept?.remember(afters, prefixes)
  const onFormers = prefixesOf(memory.formers)
  const context = { quorum, unread, undecided, onFormers, checks: checksOf(memory) }
  const { changed } = observedRowsOf(lease, planned, sends, sent, afters, context)
  await saveObserved(db, lease, changed, deps.onSettled)
  // Only the full run reads former routers.
  const isLeftOver = rows.some(({ desired, prefix }) => !desired && onFormers.has(prefix as Prefix))
  return {
    moving: rows.length,
    announced: sends.reduce((count, { announce }) => count + announce.length, 0),
    withdrawn: sent.withdrawn.size,
    refused: [...sent.refused.values()].reduce((count, { size }) => count + size, 0),
    full: needsFullRun || isLeftOver || failed.length > 0 ? 'now' : 'soon',
  }
}

const readBefore = (routers: readonly Router[], prefixes: readonly Prefix[], known: KnownRegion) =>
  callAll(
    routers,
    (router) => router,
    async (router): Promise<RouterView> => {
      const [observed, asn] = await Promise.all([router.speaker.find(prefixes), router.asn()])
      const daemon = await router.daemon()
      return { router, asn, daemon, observed, neighbors: known.neighbors.get(router.name)! }
    },
  )

const readAfter = (views: readonly RouterView[], prefixes: readonly Prefix[]) =>
  callAll(
    views,
    ({ router }) => router,
    async ({ router }): Promise<RouterAfter> => ({
      router,
      after: byPrefix(await router.speaker.find(prefixes)),
    }),
  )

/**
 * Returns whether the full run, which reads the whole region, might delay a withdrawal or change: the guard already
 * does, an open approval would cover it, or rows are invalid, here or elsewhere in the region.
 */
function requiresFullRun({ plans, guarded }: Planned, memory: RegionMemory, known: KnownRegion): boolean {
  if (guarded.approval || plans.some(({ plan }) => plan.quarantined.length + plan.change.length > 0))
    return true
  const counted = guarded.withdraw.filter((one) => one.counted)
  if (guarded.withdraw.length > 0 && known.quarantined > 0) return true
  return counted.length > 0 && memory.openApproval !== null
}
