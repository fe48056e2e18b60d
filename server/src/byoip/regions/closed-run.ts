// The run of one region while a restore is open: reads and plans as the full run does, and reports the differences. It
// sends only the last known routes that the database confirms, to a restarted router.
import { familyOf } from '../../net/address.ts'
import type { Prefix } from '../../net/prefix.ts'
import { differencesOf, type RegionDifferences } from './difference.ts'
import type { LastKnownRoutes } from './last-known-routes.ts'
import { readRouters, type ReconcileDeps } from './reconcile.ts'
import { saveCheck, withFence, type RouterCheck } from './reconcile.store.ts'
import type { RegionLease, RegionMemory } from './region-lock.store.ts'
import {
  byPrefix,
  failedCheckOf,
  planRegion,
  quorumOf,
  reachOf,
  storeFailure,
  type Planned,
  type RouterFailure,
} from './region-run.ts'
import { sameRoute, type Route } from './speaker.ts'

export type ReportDifferences = (
  found: { readonly region: string } & (
    | ({ readonly problem: null } & RegionDifferences)
    | { readonly problem: string }
  ),
) => Promise<void>

type ClosedRunDeps = ReconcileDeps & {
  readonly region: string
  /** The routes of the routers before the restore; undefined if this process does not know them. */
  readonly known: LastKnownRoutes | undefined
  /** Announces these routes to routers that have lost all of theirs; returns their number. */
  readonly announceKnown: (plan: LastKnownRoutes) => Promise<number>
  readonly report: ReportDifferences
}

export function closedRun(deps: ClosedRunDeps, lease: RegionLease): Promise<void> {
  return storeFailure(deps.db, lease, () => run(deps, lease))
}

async function run(deps: ClosedRunDeps, lease: RegionLease): Promise<void> {
  const { db, known, region } = deps
  const at = deps.now()
  const [rows, memory, first] = await Promise.all([
    deps.readRows(db, lease.regionId),
    lease.readMemory(),
    readRouters(deps.routers),
  ])
  const planned = planRegion(lease, rows, first.answers, memory, { at })
  const confirmed = known && confirmedBy(known, planned)
  const announced = confirmed ? await withFence(db, lease, () => deps.announceKnown(confirmed)) : 0
  const { answers: views, failures } = announced > 0 ? await readRouters(deps.routers) : first
  const after = announced > 0 ? planRegion(lease, rows, views, memory, { at }) : planned
  if (!known)
    await deps.kept?.remember(
      after.views.map(({ router, observed }) => ({ router, after: byPrefix(observed) })),
    )
  await saveCheck(db, lease, {
    at,
    quorum: quorumOf(deps, memory),
    missing: 0,
    routers: checksOf(after, failures, memory),
  })
  if (failures.length > 0) return deps.report({ region, problem: failures.map(problemOf).join('; ') })
  const compared = after.plans.map(({ router: name, plan }) => ({ name, plan, known: knownOf(known, name) }))
  await deps.report({ region, problem: null, ...differencesOf(compared) })
}

/** Returns the routes that a router should have by the database as well. */
function confirmedBy(known: LastKnownRoutes, { plans }: Planned): LastKnownRoutes {
  const routers = known.routers.map(({ name, routes }) => {
    const wanted = byPrefix(plans.find(({ router }) => router === name)?.plan.announce ?? [])
    const isConfirmed = (route: Route) => {
      const to = wanted.get(route.prefix)
      return to !== undefined && sameRoute(route, to)
    }
    return { name, routes: routes.filter(isConfirmed) }
  })
  return { ...known, routers }
}

const knownOf = (known: LastKnownRoutes | undefined, router: string): ReadonlyMap<Prefix, Route> =>
  byPrefix(known?.routers.find(({ name }) => name === router)?.routes ?? [])

const problemOf = ({ router, error }: RouterFailure): string => `${router.name}: ${error.message}`

function checksOf(
  { views }: Planned,
  failures: readonly RouterFailure[],
  memory: RegionMemory,
): RouterCheck[] {
  const read = views.map(({ router, daemon, observed, neighbors }): RouterCheck => {
    const before = memory.routers.get(router.name)
    return {
      name: router.name,
      drained: before?.drained ?? false,
      reach: reachOf(neighbors),
      families: new Set(observed.map(({ prefix }) => familyOf(prefix))),
      routes: observed.length,
      neighbors,
      checks: before?.checks ?? [],
      applied: before?.applied ?? null,
      daemon,
      error: null,
    }
  })
  return [...read, ...failures.map(failedCheckOf)]
}
