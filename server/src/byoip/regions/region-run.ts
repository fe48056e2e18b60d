// The steps that full and quick runs share: read the routers of a region, plan and guard, send under the fence of the region,
// read back. Routers are independent: a failed one is excluded from the run and reported, and the run continues with the
// others; a run in which every router fails is a failed run.
import { asFailure } from '../../db/failure.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import type { Gate } from '../../runtime/gate.ts'
import { damp } from './damping.ts'
import { hearingOf, type NeighborCheck } from './evidence.ts'
import { confirmFormer } from './former-speakers.store.ts'
import { changeKey, guardPlans, changesForRouter, type RouterPlan, type GuardResult } from './guard.ts'
import { observedRows, type Observation, type RunResult, type Reach } from './observe.ts'
import { planRoutes, readPrefix, type Plan, type PlanRow, type RouteSettings } from './plan.ts'
import { confirmDrained, confirmWithdrawals, saveFailedCheck } from './reconcile.store.ts'
import { LeaseLost, type RegionLease, type RegionMemory, type RouterMemory } from './region-lock.store.ts'
import type { OnSettled } from './settled.store.ts'
import { SpeakerError, type InstalledRoute, type Neighbor, type Route, type Speaker } from './speaker.ts'

/** One router of the region. */
export type Router = {
  readonly name: string
  readonly speaker: Speaker
  /** The speaker's own ASN, queried once per connection. */
  readonly asn: () => Promise<number>
  /** Identifies the daemon and the owner, queried with the ASN. */
  readonly daemon: () => Promise<string>
  readonly routes: RouteSettings
  /** Id of the former speaker: the region no longer has this router, which is emptied. */
  readonly former?: number
}

/** Routes of the routers of a region, for a router that restarts while the database is down. */
export type KeptRoutes = {
  /** Called before the prefixes are withdrawn. */
  forget(prefixes: ReadonlySet<Prefix>): void
  /** Called after reading routes back, before the result is saved. `among`: the prefixes that were read; absent: all. */
  remember(afters: readonly RouterAfter[], among?: readonly Prefix[]): Promise<void>
}

/** Dependencies of every run. */
export type RunDeps = {
  readonly db: Db
  readonly routers: readonly Router[]
  /** Routers that the region no longer has, as far as this run reads them. */
  readonly formers?: readonly Router[]
  /** Number of routers that must carry a route; null: all that are not drained. */
  readonly quorum: number | null
  readonly kept?: KeptRoutes
  readonly onSettled?: OnSettled
  /** Checked again in the transaction that sends: the database may have been replaced since the run began. */
  readonly gate: Gate<Trx>
  readonly now: () => Date
  /** Monotonic clock, in milliseconds. */
  readonly elapsedMs: () => number
}

/** The database was restored while the run read it: the run does not send. */
class GateClosed extends Error {
  constructor() {
    super('the database was restored: nothing is sent until staff decide')
    this.name = 'GateClosed'
  }
}

/** The run was canceled while it was reading, in favor of a more urgent one. It had no effects. */
export class RunPreempted extends Error {
  constructor() {
    super('the run was canceled in favor of a more urgent one')
    this.name = 'RunPreempted'
  }
}

/** Rejects with the error of the run, after storing that the region could not be checked. */
export async function storeFailure<T>(db: Db, lease: RegionLease, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    // After a takeover the other reconciler reports on the region, and an unavailable database cannot store it.
    if (!(error instanceof LeaseLost || error instanceof RunPreempted || isDatabaseAway(error))) {
      const message = error instanceof Error ? error.message : String(error)
      const routers = error instanceof RoutersFailed ? error.failures.map(failedCheckOf) : []
      await saveFailedCheck(db, lease, message, routers).catch(() => {})
    }
    throw error
  }
}

export function isDatabaseAway(error: unknown): boolean {
  const failure = asFailure(error)
  return failure instanceof Failure && failure.code === 'unavailable'
}

/** The state that was read from one router. */
export type RouterView = {
  readonly router: Router
  readonly asn: number
  readonly daemon: string
  readonly observed: readonly InstalledRoute[]
  readonly neighbors: readonly Neighbor[]
}

export type RouterFailure = { readonly router: Router; readonly error: DriverError }

/** All routers failed. */
export class RoutersFailed extends DriverError {
  readonly failures: readonly RouterFailure[]

  constructor(failures: readonly RouterFailure[]) {
    const [{ error }] = failures as [RouterFailure]
    const each = failures.map(({ router, error }) => `${router.name}: ${error.message}`)
    super(error.kind, failures.length === 1 ? error.message : each.join('; '), {
      refused: error.refused,
      cause: error,
    })
    this.failures = failures
  }
}

export const failedCheckOf = ({ router, error }: RouterFailure) => ({
  name: router.name,
  error: error.message,
})

/**
 * Calls all routers concurrently. Resolves with the results and with the routers that failed with a DriverError; throws
 * RoutersFailed if all of them failed.
 */
export async function callAll<T, R>(
  targets: readonly T[],
  routerOf: (target: T) => Router,
  call: (target: T) => Promise<R>,
): Promise<{ answers: R[]; failures: RouterFailure[] }> {
  const settled = await Promise.allSettled(targets.map(call))
  const answers: R[] = []
  const failures: RouterFailure[] = []
  for (const [at, result] of settled.entries()) {
    if (result.status === 'fulfilled') answers.push(result.value)
    else if (result.reason instanceof DriverError)
      failures.push({ router: routerOf(targets[at]!), error: result.reason })
    else throw result.reason
  }
  if (answers.length === 0 && failures.length > 0) throw new RoutersFailed(failures)
  return { answers, failures }
}

const noMemory: RouterMemory = { drained: false, applied: null, checks: [] }
/** A former router is drained for ever: its routes go once the routers of the region carry them. */
const formerMemory: RouterMemory = { drained: true, applied: null, checks: [] }

/** Returns how many of the routers that are not drained must carry a route. */
export function quorumOf({ routers, quorum }: RunDeps, memory: RegionMemory): number {
  const active = routers.filter(({ name }) => !memory.routers.get(name)?.drained).length
  return Math.max(1, Math.min(quorum ?? active, active))
}

/** The damped plans of all routers that answered, and the guard's guarded about them. */
export type Planned = {
  readonly views: readonly RouterView[]
  readonly plans: readonly RouterPlan[]
  readonly waiting: ReadonlyMap<Prefix, Date>
  readonly guarded: GuardResult
}

export function planRegion(
  lease: RegionLease,
  rows: readonly PlanRow[],
  views: readonly RouterView[],
  memory: RegionMemory,
  { at, routes }: { readonly at: Date; readonly routes?: number },
): Planned {
  const damped = views.map(({ router, asn, observed }) => {
    const { name, routes, former } = router
    const { drained, applied } = former === undefined ? (memory.routers.get(name) ?? noMemory) : formerMemory
    const kept = memory.kept.filter((one) => one.router === name).map(({ route }) => route)
    const plan = planRoutes({ regionId: lease.regionId, asn, routes, applied, drained, kept }, rows, observed)
    return { router: name, isFormer: former !== undefined, ...damp(plan, at) }
  })
  const plans = damped.map(({ router, isFormer, plan }) => ({ router, isFormer, plan }))
  const waiting = new Map(damped.flatMap((one) => [...one.waiting]))
  const current = views.filter(({ router }) => router.former === undefined)
  const observed = new Set(current.flatMap((view) => view.observed.map(({ prefix }) => prefix)))
  const guarded = guardPlans(plans, { ...memory, routes: routes ?? observed.size })
  return { views, plans, waiting, guarded }
}

/** The changes that a run sends to one router. */
type RouterSend = {
  readonly view: RouterView
  readonly plan: Plan
  readonly announce: readonly Route[]
  readonly withdraw: readonly Prefix[]
  /** Withdrawn from this router only, since it is drained or former, and enough others carry the route. */
  readonly drain: readonly Prefix[]
}

export type RouterChanges = readonly RouterSend[]

/** Returns the changes for each router. `onlyAnnounce`: withdrawals and changed routes are left to another run. */
export function changesForRouters(
  { views, plans, guarded }: Planned,
  quorum: number,
  onlyAnnounce = false,
): RouterChanges {
  const fixed = plans.map((one) => fixedBy(one, guarded))
  const carrying = plans.flatMap(({ plan }, at) =>
    plan.drained
      ? []
      : [{ kept: new Set(plan.keep).union(fixed[at]!), reach: reachOf(views[at]!.neighbors) }],
  )
  const isCarried = (prefix: Prefix) =>
    carrying.filter(({ kept, reach }) => kept.has(prefix) && reach[prefix.includes(':') ? 6 : 4]).length >=
    quorum
  return plans.map((one, at) => {
    const { announce, withdraw } = changesForRouter(one, guarded)
    const drain = one.plan.drained
      ? [...one.plan.observed.keys()].filter(
          (prefix) => (one.plan.rows.get(prefix)?.desired || fixed[at]!.has(prefix)) && isCarried(prefix),
        )
      : []
    const view = views[at]!
    const { plan } = one
    return onlyAnnounce
      ? { view, plan, announce: plan.announce, withdraw: [], drain: [] }
      : { view, plan, announce, withdraw, drain }
  })
}

/**
 * Returns the routes of a router that stay unchanged: their withdrawal or change needs approval, or their row is
 * invalid. A drain must not wait for a decision: it is complete once the other routers have them.
 */
function fixedBy({ router, plan }: RouterPlan, guarded: GuardResult): ReadonlySet<Prefix> {
  const changes = plan.change.filter((change) => guarded.heldChanges.has(changeKey(router, change)))
  const invalid = plan.quarantined.flatMap(({ row }) => readPrefix(row.prefix) ?? [])
  const fixed = [...guarded.held, ...changes.map(({ prefix }) => prefix), ...invalid]
  return new Set(fixed.filter((prefix) => plan.observed.has(prefix)))
}

/** Returns whether there are no changes to send, so that no read-back is needed. */
export const isNoChange = (sends: RouterChanges): boolean =>
  sends.every(({ announce, withdraw, drain }) => announce.length + withdraw.length + drain.length === 0)

export type Sent = {
  readonly withdrawn: ReadonlySet<Prefix>
  /** By router name. */
  readonly refused: ReadonlyMap<string, ReadonlySet<string>>
  readonly failures: readonly RouterFailure[]
}

export const nothingSent: Sent = { withdrawn: new Set(), refused: new Map(), failures: [] }

/**
 * Sends announcements, then withdrawals, in a transaction of withFence(). This order keeps a network reachable that replaces a
 * prefix by its halves, or the halves by the whole. A prefix that moves to another origin needs no withdrawal, because a router has
 * one route per prefix and the new one replaces the old in the same update. A move between regions is make-before-break too, as
 * far as two independent routers allow.
 */
export async function sendAll(
  trx: Trx,
  { kept, gate }: Pick<RunDeps, 'kept' | 'gate'>,
  lease: RegionLease,
  { plans, guarded }: Planned,
  sends: RouterChanges,
  ageMs: () => number,
): Promise<Sent> {
  requireFresh(ageMs())
  if (!(await gate.mayApply(trx))) throw new GateClosed()
  const routerOf = ({ view }: RouterSend) => view.router
  const announced = await callAll(sends, routerOf, async (send) => {
    return { send, refused: await refusedBy(send.view.router.speaker.announce(send.announce)) }
  })
  const confirmed = await confirm(trx, lease, plans, guarded, sends)
  requireFresh(ageMs())
  kept?.forget(confirmed)
  const alive = announced.answers.filter(({ send }) => send.withdraw.length + send.drain.length > 0)
  const withdrawn = await callAll(
    alive,
    ({ send }) => send.view.router,
    async ({ send, refused }) => {
      const { name, speaker, former } = send.view.router
      const isConfirmed =
        former === undefined
          ? send.drain.length === 0 || (await confirmDrained(trx, lease.regionId, name))
          : await confirmFormer(trx, former)
      const withdraw = former === undefined || isConfirmed ? send.withdraw : []
      const drain = isConfirmed ? send.drain : []
      const prefixes = [...withdraw.filter((prefix) => confirmed.has(prefix)), ...drain]
      return {
        name,
        refused: refused.union(await refusedBy(speaker.withdraw(prefixes.map((prefix) => ({ prefix }))))),
      }
    },
  )
  const refused = new Map(announced.answers.map(({ send, refused }) => [send.view.router.name, refused]))
  for (const one of withdrawn.answers) refused.set(one.name, one.refused)
  return { withdrawn: confirmed, refused, failures: [...announced.failures, ...withdrawn.failures] }
}

/** Returns the withdrawals that the database still confirms, after recording the ones that count. */
async function confirm(
  trx: Trx,
  lease: RegionLease,
  plans: readonly RouterPlan[],
  { withdraw }: GuardResult,
  sends: RouterChanges,
): Promise<ReadonlySet<Prefix>> {
  const sending = new Set(sends.flatMap((send) => send.withdraw))
  if (sending.size === 0) return new Set()
  const unexplained = new Set(plans.flatMap(({ plan }) => plan.unexplained))
  const { known = [], unknown = [] } = Object.groupBy(sending, (prefix) =>
    unexplained.has(prefix) ? 'unknown' : 'known',
  )
  const counted = withdraw.filter((one) => one.counted && sending.has(one.prefix))
  const [confirmed] = await Promise.all([
    confirmWithdrawals(trx, lease.regionId, known, unknown),
    lease.recordWithdrawals(counted),
  ])
  return new Set(confirmed)
}

export const planAgeMsMax = 10_000

/** Throws if rows and routes were read too long ago: the process may have been paused since. */
export function requireFresh(planAgeMs: number): void {
  if (planAgeMs > planAgeMsMax)
    throw new Error(`the plan is ${Math.round(planAgeMs / 1000)} s old; nothing more is sent`)
}

/** Returns the rejected prefixes of a call whose other changes were applied. Rejects with any other failure. */
async function refusedBy(call: Promise<void>): Promise<Set<string>> {
  try {
    await call
    return new Set()
  } catch (error) {
    if (!(error instanceof SpeakerError) || error.kind !== 'refused' || error.refused.length === 0)
      throw error
    return new Set(error.refused.map(({ subject }) => subject))
  }
}

/** Returns the families that the established sessions carry. */
export function reachOf(neighbors: readonly Neighbor[]): Reach {
  const established = neighbors.filter(({ state }) => state === 'established')
  const carries = (family: 4 | 6) => established.some(({ families }) => families.includes(family))
  return { 4: carries(4), 6: carries(6) }
}

/** The routes of one router after the run. */
export type RouterAfter = { readonly router: Router; readonly after: ReadonlyMap<Prefix, InstalledRoute> }

/**
 * Returns the new values of the rows. `unread`: active routers that failed at any point of the run. `checks`: by router
 * name, the routes that neighbors receive.
 */
export function observedRowsOf(
  lease: RegionLease,
  planned: Planned,
  sends: RouterChanges,
  sent: Sent,
  afters: readonly RouterAfter[],
  {
    quorum,
    unread,
    checks,
    undecided = new Set(),
    onFormers,
  }: Pick<RunResult, 'quorum' | 'unread' | 'onFormers'> &
    Partial<Pick<RunResult, 'undecided'>> & { readonly checks: RouterChecks },
): Observation {
  const [first] = planned.plans
  if (!first) return { changed: [], missing: 0 }
  const { guarded, waiting, plans } = planned
  const routers = afters.flatMap(({ router, after }) => {
    const send = sends.find(({ view }) => view.router === router)
    if (!send) return []
    const { view, plan, announce } = send
    const refused = sent.refused.get(router.name) ?? new Set<string>()
    const reach = reachOf(view.neighbors)
    const { asn, neighbors } = view
    const { hearing } = hearingOf(neighbors, asn, checks.get(router.name) ?? [])
    const isFormer = router.former !== undefined
    const announced = byPrefix(announce)
    return [{ asn, drained: plan.drained, isFormer, reach, after, announced, refused, hearing }]
  })
  const heldChanges = new Set(
    plans.flatMap(({ router, plan }) =>
      plan.change
        .filter((change) => guarded.heldChanges.has(changeKey(router, change)))
        .map(({ prefix }) => prefix),
    ),
  )
  const { held, declined } = guarded
  const { withdrawn } = sent
  const settled = { withdrawn, held, declined, heldChanges, undecided }
  const result = { routers, unread, quorum, waiting, onFormers, ...settled }
  return observedRows(lease.regionId, first.plan, result)
}

/** By name of the router. */
export type RouterChecks = ReadonlyMap<string, readonly NeighborCheck[]>

export const checksOf = ({ routers }: RegionMemory): RouterChecks =>
  new Map([...routers].map(([name, { checks }]) => [name, checks]))

export const byPrefix = <R extends Route>(routes: readonly R[]): Map<Prefix, R> =>
  new Map(routes.map((route) => [route.prefix, route]))
