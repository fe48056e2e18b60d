// The full run of one region: reads all desired rows and all routes of its routers, plans the difference, guards, sends
// and reads back, and saves the result. It takes no input, keeps no state between runs and does not retry: any error
// fails the run without a withdrawal, and the next run is the retry.
import type { Db } from '../../db/postgres.ts'
import { familyOf } from '../../net/address.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { Prefix } from '../../net/prefix.ts'
import { canContinue, checksOfFormers, isInUse, prefixesOf, readFormers } from './former-speakers.ts'
import { saveFormerChecks } from './former-speakers.store.ts'
import { approvalChange, evidenceOf } from '../../approval/coverage.ts'
import { planApprovalsIn } from '../../approval/plan-approvals.ts'
import { routeApprovals } from './approval-area.ts'
import { isBlackhole } from './blackhole-route.ts'
import {
  advertisedPathsMax,
  nextNeighbor,
  updateChecks,
  type NeighborAnswer,
  type NeighborCheck,
} from './evidence.ts'
import type { Applied, Plan, PlanRow, RouteSettings } from './plan.ts'
import { saveCheck, saveObserved, withFence, type RouterCheck } from './reconcile.store.ts'
import type { RegionLease, RegionMemory } from './region-lock.store.ts'
import {
  byPrefix,
  callAll,
  failedCheckOf,
  isNoChange,
  nothingSent,
  observedRowsOf,
  planRegion,
  quorumOf,
  reachOf,
  requireFresh,
  sendAll,
  changesForRouters,
  storeFailure,
  type Planned,
  type Router,
  type RouterAfter,
  type RouterChecks,
  type RouterFailure,
  type RouterView,
  type RunDeps,
  type RouterChanges,
} from './region-run.ts'
import { plainRoute, type Neighbor } from './speaker.ts'

export type ReconcileDeps = RunDeps & {
  /** Every row of the region in one snapshot: readRegionRows(). */
  readonly readRows: (db: Db, regionId: number) => Promise<readonly PlanRow[]>
  /** Rejects with RunPreempted to cancel the run while it reads; after that, the run cannot be preempted. */
  readonly preempt?: Promise<never>
  /** Gets the routes of each router that was read back, and when black holes end; milliseconds since 1970. */
  readonly handOver?: (afters: readonly RouterAfter[], ends: ReadonlyMap<string, number>) => Promise<void>
}

/** Number of routes of each kind, and of routes sent. */
export type RunReport = Record<
  'desired' | 'observed' | 'announced' | 'withdrawn' | 'held' | 'waiting' | 'refused' | 'quarantined',
  number
> & {
  /** The neighbors of each router that could be read. */
  readonly neighbors: ReadonlyMap<string, readonly Neighbor[]>
  readonly failures: readonly RouterFailure[]
  readonly failuresOfFormers: readonly RouterFailure[]
  /** Whether another run soon can withdraw more from former routers. */
  readonly formersContinue: boolean
}

/** Runs once under the lease. Rejects with the error of the run, after storing that the region could not be checked. */
export function reconcileRegion(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  return storeFailure(deps.db, lease, () => run(deps, lease))
}

async function run(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  const { db } = deps
  const startedMs = deps.elapsedMs()
  const startedAt = deps.now()
  const ageMs = () => deps.elapsedMs() - startedMs
  const read = Promise.all([
    deps.readRows(db, lease.regionId),
    readWithNeighbors(deps.routers, lease),
    readFormers(deps.formers ?? []),
  ])
  const [rows, { memory, views: current, failures, answers }, formers] = await (deps.preempt
    ? Promise.race([read, deps.preempt])
    : read)
  const inUse = formers.answers.filter((view) => isInUse(view, current, memory))
  const views = [...current, ...formers.answers.filter((view) => !inUse.includes(view))]
  const quorum = quorumOf(deps, memory)
  const planned = planRegion(lease, rows, views, memory, { at: startedAt })
  requireFresh(ageMs())
  const sends = changesForRouters(planned, quorum)
  const checks = new Map(
    sends
      .filter(({ view }) => view.router.former === undefined)
      .map((send) => [send.view.router.name, neighborChecksOf(send, memory, answers, startedAt)]),
  )
  const silent = isNoChange(sends)
  const sent = silent
    ? nothingSent
    : await withFence(db, lease, (trx) => sendAll(trx, deps, lease, planned, sends, ageMs))
  const after = silent ? { answers: observedOf(planned), failures: [] } : await readBack(views)
  const allFailed = [...failures, ...sent.failures, ...after.failures]
  const allAfters = after.answers.filter(({ router }) => !allFailed.some((one) => one.router === router))
  const [afters, aftersOfFormers] = splitFormers(allAfters)
  const [failed, failuresOfFormers] = splitFormers(allFailed)
  const unread = activeOf(failed, memory)
  await deps.kept?.remember(afters)
  await deps.handOver?.(afters, endsOf(rows))
  const formersRead = { read: formers, inUse, afters: aftersOfFormers, failures: failuresOfFormers }
  const formerChecks = checksOfFormers(memory.formers, formersRead)
  const onFormers = prefixesOf(memory.formers).union(
    new Set(formerChecks.flatMap(({ prefixes = [] }) => prefixes)),
  )
  const context = { quorum, unread, onFormers, checks }
  const { changed, missing } = observedRowsOf(lease, planned, sends, sent, allAfters, context)
  await saveObserved(db, lease, changed, deps.onSettled)
  await saveApproval(db, lease.regionId, memory, planned)
  const found = afters.map((one) => checkOf(one, planned, memory, checks))
  const routers = [...found, ...failed.map(failedCheckOf)]
  await saveCheck(db, lease, { at: startedAt, quorum, routers, missing })
  await saveFormerChecks(db, lease, startedAt, formerChecks)
  const observed = new Set(afters.flatMap((one) => [...one.after.keys()])).size
  return {
    ...countsOf(planned),
    observed,
    announced: sum(sends.map(({ announce }) => announce.length)),
    withdrawn: sent.withdrawn.size,
    refused: sum([...sent.refused.values()].map(({ size }) => size)),
    neighbors: new Map(current.map(({ router, neighbors }) => [router.name, neighbors])),
    failures: failed,
    failuresOfFormers: [...formers.failures, ...failuresOfFormers],
    formersContinue: canContinue(memory.formers, formerChecks, shownNow(sends, afters)),
  }
}

/** Returns when each black hole that is wanted ends. */
const endsOf = (rows: readonly PlanRow[]): ReadonlyMap<string, number> =>
  new Map(
    rows.flatMap(({ prefix, desired, expiresMs }) =>
      desired && expiresMs !== undefined ? [[prefix, expiresMs]] : [],
    ),
  )

/** Returns the entries about routers of the region, and about former ones. */
function splitFormers<T extends { readonly router: Router }>(entries: readonly T[]): [T[], T[]] {
  const { current = [], former = [] } = Object.groupBy(entries, ({ router }) =>
    router.former === undefined ? 'current' : 'former',
  )
  return [current, former]
}

/** Returns the prefixes that this run announced and that their routers show. */
function shownNow(sends: RouterChanges, afters: readonly RouterAfter[]): ReadonlySet<Prefix> {
  const shown = sends.flatMap(({ view, announce }) => {
    const after = afters.find(({ router }) => router === view.router)?.after
    return announce.map(({ prefix }) => prefix).filter((prefix) => after?.has(prefix))
  })
  return new Set(shown)
}

/** Reads all routes of every router. */
export function readRouters(routers: readonly Router[]) {
  return callAll(
    routers,
    (router) => router,
    async (router): Promise<RouterView> => {
      const { speaker } = router
      const [observed, asn, daemon, neighbors] = await Promise.all([
        speaker.list(),
        router.asn(),
        router.daemon(),
        speaker.neighbors(),
      ])
      return { router, asn, daemon, observed, neighbors }
    },
  )
}

/** Reads all routes of every router, and the routes that one of its neighbors receives. */
async function readWithNeighbors(routers: readonly Router[], lease: RegionLease) {
  const [memory, { answers: views, failures }] = await Promise.all([lease.readMemory(), readRouters(routers)])
  const answers = new Map(
    await Promise.all(
      views.map(async (view) => [view.router.name, await askNeighbor(view, memory)] as const),
    ),
  )
  return { memory, views, failures, answers }
}

type NeighborAnswers = ReadonlyMap<string, readonly NeighborAnswer[]>

/** Queries the next neighbor in turn. A failed query is no evidence, and the next run repeats it. */
async function askNeighbor(
  { router, asn, neighbors }: RouterView,
  memory: RegionMemory,
): Promise<NeighborAnswer[]> {
  const next = nextNeighbor(neighbors, asn, memory.routers.get(router.name)?.checks ?? [])
  if (!next) return []
  const { address, families } = next
  try {
    return await Promise.all(
      families.map(async (family) => {
        return {
          address,
          family,
          advertised: await router.speaker.advertised(address, family, advertisedPathsMax),
        }
      }),
    )
  } catch (error) {
    if (error instanceof DriverError) return []
    throw error
  }
}

function neighborChecksOf(
  { view, announce, withdraw, drain }: RouterChanges[number],
  memory: RegionMemory,
  answers: NeighborAnswers,
  at: Date,
): readonly NeighborCheck[] {
  const { name } = view.router
  const changed = new Set([...announce.map(({ prefix }) => prefix), ...withdraw, ...drain])
  return updateChecks(
    memory.routers.get(name)?.checks ?? [],
    { ...view, changed },
    answers.get(name) ?? [],
    at,
  )
}

function readBack(views: readonly RouterView[]) {
  return callAll(
    views,
    ({ router }) => router,
    async ({ router }): Promise<RouterAfter> => ({ router, after: byPrefix(await router.speaker.list()) }),
  )
}

const observedOf = ({ views }: Planned): RouterAfter[] =>
  views.map(({ router, observed }) => ({ router, after: byPrefix(observed) }))

/** Counts the failed routers that are not drained. */
function activeOf(failures: readonly RouterFailure[], memory: RegionMemory): number {
  return new Set(
    failures.map(({ router }) => router.name).filter((name) => !memory.routers.get(name)?.drained),
  ).size
}

function checkOf(
  { router, after }: RouterAfter,
  { views, plans, guarded }: Planned,
  memory: RegionMemory,
  checks: RouterChecks,
): RouterCheck {
  const view = views.find((one) => one.router === router)!
  const { plan } = plans.find((one) => one.router === router.name)!
  const before = memory.routers.get(router.name)
  const isHeld = plan.change.length > 0 && guarded.heldChanges.size > 0
  return {
    name: router.name,
    drained: before?.drained ?? false,
    reach: reachOf(view.neighbors),
    families: new Set([...after.keys()].map(familyOf)),
    routes: after.size,
    neighbors: view.neighbors,
    checks: checks.get(router.name) ?? [],
    applied: isHeld ? (before?.applied ?? appliedBefore(plan, view.asn)) : appliedOf(router, view.asn),
    daemon: view.daemon,
    error: null,
  }
}

/** Fills in the values before a paused change if no run recorded them: in the first run after an upgrade. */
function appliedBefore({ change }: Plan, asn: number): Applied {
  const announced = change.filter(({ from }) => !isBlackhole(from))
  const nextHop = (family: 4 | 6) => announced.find(({ prefix }) => familyOf(prefix) === family)?.from.nextHop
  const { communities, largeCommunities } = announced[0]?.from ?? {}
  return appliedOf(
    { routes: { nextHop4: nextHop(4), nextHop6: nextHop(6), communities, largeCommunities } },
    asn,
  )
}

function appliedOf(
  { routes }: { readonly routes: { readonly [K in keyof RouteSettings]?: RouteSettings[K] | undefined } },
  asn: number,
): Applied {
  const { nextHop4, nextHop6, communities = [], largeCommunities = [] } = routes
  return {
    asn,
    communities,
    largeCommunities,
    ...(nextHop4 === undefined ? {} : { nextHop4 }),
    ...(nextHop6 === undefined ? {} : { nextHop6 }),
  }
}

/** Compares with the approval that the run has read: a decision in the meantime counts in the next run. */
async function saveApproval(
  db: Db,
  regionId: number,
  { openApproval: open }: RegionMemory,
  { plans, guarded: { approval } }: Planned,
): Promise<void> {
  const planned = approval && {
    ...approval,
    kind: 'changes',
    regionId,
    evidence: evidenceOf('routes', approval.findings[0]!.reason, approval.items),
  }
  if (approvalChange(routeApprovals.covers, open, planned) === 'keep') return
  const context = plans.flatMap(({ router, plan }) =>
    plan.unexplained.map((prefix) => ({
      router,
      route: plainRoute(plan.observed.get(prefix) ?? plan.lost.get(prefix)!),
    })),
  )
  await planApprovalsIn(db, routeApprovals, { regionId }, planned ? [{ ...planned, context }] : [])
}

function countsOf({ plans, guarded, waiting }: Planned) {
  const plan = plans[0]?.plan
  const desired = plan?.rows.values().reduce((count, row) => count + (row.desired ? 1 : 0), 0) ?? 0
  const held = guarded.held.size + guarded.heldChanges.size
  return { desired, held, waiting: waiting.size, quarantined: plan?.quarantined.length ?? 0 }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
