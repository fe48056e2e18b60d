// The plan for one router: a pure difference between the rows of its region and its routes. guard.ts decides whether a
// change is allowed, damping.ts when.
import type { RegionState } from '@pharos/contract/byoip/announcement'
import type { ReasonAttrs, RegionReason, RowProblem } from '@pharos/contract/reason/region-reason'
import { parseAsn } from '../../net/asn.ts'
import { blackholeCommunity } from '../../net/community.ts'
import { isDefaultRoute, parsePrefix, type Prefix } from '../../net/prefix.ts'
import { discardNextHop, findExcess, isBlackhole, isHost, type DiscardSettings } from './blackhole-route.ts'
import { sameRoute, selfNextHop, type Route } from './speaker.ts'

/** One row of a region as it was read. Every value must be validated before use. */
export type PlanRow = {
  /** Null for a black hole. */
  readonly announcementId: number | null
  /** The row is a black hole of a host, whose origin comes from the covering announcement. */
  readonly blackholeId?: number
  readonly teamId: number
  readonly regionId: number
  readonly prefix: string
  readonly originAsn: number
  /** The origin for which every check passed. */
  readonly checkedOrigin: number | null
  readonly desired: boolean
  /** Not desired, and the newest audit entry about the announcement is a request for it by name. */
  readonly requested: boolean
  readonly state: RegionState
  readonly reason: RegionReason | null
  readonly attrs: ReasonAttrs | null
  /** The origin with which a router last showed the route; null once no router shows it. */
  readonly announcedOrigin: number | null
  /** When the desired state last changed; milliseconds since 1970, since 10,000 Date objects are slow to create. */
  readonly changedMs: number | null
  /** When a black hole ends; milliseconds since 1970. */
  readonly expiresMs?: number
  /** Id of the audit entry of that change; null if it is not known. */
  readonly changedEntry: number | null
  /** Time of the change that is as many changes ago as damping allows in an hour; milliseconds since 1970. */
  readonly limitMs: number | null
}

/** A validated row of this region, unique for its prefix. */
export type CheckedRow = PlanRow & { readonly prefix: Prefix }

export type QuarantinedRow = { readonly row: PlanRow; readonly problem: RowProblem }

/** Attributes of a router's routes that do not depend on the announcement. */
export type RouteSettings = {
  /** The next hops to announce; the speaker itself if absent. */
  readonly nextHop4?: string
  readonly nextHop6?: string
  readonly communities?: readonly string[]
  readonly largeCommunities?: readonly string[]
} & DiscardSettings

/** The settings of the last announcement of a router's routes; stored in `region_routers.applied`. */
export type Applied = Pick<RouteSettings, 'nextHop4' | 'nextHop6' | 'communities' | 'largeCommunities'> & {
  readonly asn: number
}

export type PlanRouter = {
  readonly regionId: number
  /** The speaker's own ASN: a prefix with this origin is announced without a path. */
  readonly asn: number
  readonly routes: RouteSettings
  readonly applied?: Applied | null
  /** The router has no announcements; the other routers of the region carry its routes. */
  readonly drained?: boolean
  /** Routes without a row that the router had when their approval was opened, while they may not be withdrawn. */
  readonly kept?: readonly Route[]
}

/** A change of any attribute of the route that the router shows, or that it was last known to have. */
export type RouteChange = { readonly prefix: Prefix; readonly from: Route; readonly to: Route }

export type Plan = {
  /** Desired, and absent; also the last known route of an invalid row. */
  readonly announce: readonly Route[]
  /** Desired, and present or known with another origin, next hop or communities. */
  readonly change: readonly RouteChange[]
  /** Not desired according to a row, and present on the router, or present when it was last read. */
  readonly withdraw: readonly Prefix[]
  /** With our owner community, and without any row. */
  readonly unexplained: readonly Prefix[]
  /** Desired, and present as desired. */
  readonly keep: readonly Prefix[]
  /** Invalid rows. The router's routes for their prefixes do not change. */
  readonly quarantined: readonly QuarantinedRow[]
  readonly rows: ReadonlyMap<Prefix, CheckedRow>
  readonly observed: ReadonlyMap<Prefix, Route>
  /**
   * Routes of `withdraw` and `unexplained` that the router has lost since the last read. A router loses its routes when
   * it restarts; a route that may not be withdrawn is announced again from here.
   */
  readonly lost: ReadonlyMap<Prefix, Route>
  readonly drained: boolean
}

/** Plans one router from the rows of its region and all of its routes. Never throws: an invalid row is quarantined. */
export function planRoutes(router: PlanRouter, read: readonly PlanRow[], routes: readonly Route[]): Plan {
  const { rows, quarantined } = checkRows(router.regionId, read)
  const observed = new Map(routes.map((route) => [route.prefix, route]))
  const { announce, change, keep } = planDesired(router, rows, observed)
  const known = new Set([...rows.keys(), ...quarantined.map(({ row }) => readPrefix(row.prefix))])
  const unexplained = [...observed.keys()].filter((prefix) => !known.has(prefix))
  const lost = new Map<Prefix, Route>()
  const withdraw: Prefix[] = []
  for (const row of rows.values()) {
    if (row.desired) continue
    const last = observed.has(row.prefix) ? undefined : lastRoute(router, row)
    if (last) lost.set(row.prefix, last)
    if (last || observed.has(row.prefix)) withdraw.push(row.prefix)
  }
  for (const route of router.kept ?? []) {
    // The end of a black hole without a row is unknown: a lost one is not announced again.
    if (known.has(route.prefix) || observed.has(route.prefix) || isBlackhole(route)) continue
    lost.set(route.prefix, route)
    unexplained.push(route.prefix)
  }
  const restored = lostOfQuarantined(router, quarantined, observed)
  return {
    announce: router.drained ? [] : [...announce, ...restored],
    change: router.drained ? [] : change,
    withdraw,
    unexplained,
    keep,
    quarantined,
    rows,
    observed,
    lost,
    drained: router.drained ?? false,
  }
}

function planDesired(
  router: PlanRouter,
  rows: ReadonlyMap<Prefix, CheckedRow>,
  observed: ReadonlyMap<Prefix, Route>,
): Pick<Plan, 'announce' | 'change' | 'keep'> {
  const announce: Route[] = []
  const change: RouteChange[] = []
  const keep: Prefix[] = []
  for (const row of rows.values()) {
    if (!row.desired) continue
    const { prefix } = row
    const to =
      row.blackholeId === undefined
        ? routeOf(router, prefix, row.originAsn)
        : blackholeOf(router, prefix, row.originAsn)
    const present = observed.get(prefix)
    const from = present ?? lastRoute(router, row)
    if (present && sameRoute(present, to)) keep.push(prefix)
    else if (from && !sameRoute(from, to)) change.push({ prefix, from, to })
    else announce.push(to)
  }
  return { announce, change, keep }
}

function routeOf({ asn, routes }: Pick<PlanRouter, 'asn' | 'routes'>, prefix: Prefix, origin: number): Route {
  const nextHop = prefix.includes(':') ? routes.nextHop6 : routes.nextHop4
  return {
    prefix,
    asPath: origin === asn ? [] : [origin],
    nextHop: nextHop ?? selfNextHop(prefix),
    communities: routes.communities ?? [],
    largeCommunities: routes.largeCommunities ?? [],
  }
}

function blackholeOf(router: PlanRouter, prefix: Prefix, origin: number): Route {
  const { communities, ...route } = routeOf(router, prefix, origin)
  const nextHop = discardNextHop(router.routes, prefix)
  return { ...route, nextHop, communities: [...communities, blackholeCommunity] }
}

/** Returns the last announced route, from the stored values of the row and of the router. */
function lastRoute(
  { asn, routes, applied }: PlanRouter,
  { prefix, announcedOrigin }: Pick<CheckedRow, 'prefix' | 'announcedOrigin'>,
): Route | undefined {
  if (announcedOrigin === null) return undefined
  // Runs of former versions stored no communities.
  const { communities = [], largeCommunities = [] } = routes
  const before = applied
    ? { asn: applied.asn, routes: { communities, largeCommunities, ...applied } }
    : { asn, routes }
  return routeOf(before, prefix, announcedOrigin)
}

function lostOfQuarantined(
  router: PlanRouter,
  quarantined: readonly QuarantinedRow[],
  observed: ReadonlyMap<Prefix, Route>,
): Route[] {
  const routes = new Map<Prefix, Route>()
  for (const { row } of quarantined) {
    const prefix = readPrefix(row.prefix)
    if (row.regionId !== router.regionId || prefix === undefined || observed.has(prefix)) continue
    if (isDefaultRoute(prefix) || !isAsn(row.announcedOrigin)) continue
    routes.set(prefix, lastRoute(router, { prefix, announcedOrigin: row.announcedOrigin })!)
  }
  return [...routes.values()]
}

function checkRows(regionId: number, read: readonly PlanRow[]) {
  const quarantined: QuarantinedRow[] = []
  const checked: CheckedRow[] = []
  const excess = findExcess(read)
  for (const row of read) {
    const prefix = readPrefix(row.prefix)
    const problem = excess.has(row.blackholeId ?? NaN)
      ? 'too_many_blackholes'
      : problemOf(regionId, row, prefix)
    if (problem !== undefined) quarantined.push({ row, problem })
    else checked.push(row.prefix === prefix ? (row as CheckedRow) : { ...row, prefix: prefix! })
  }
  const rows = new Map<Prefix, CheckedRow>()
  for (const [prefix, same] of Map.groupBy(checked, (row) => row.prefix)) {
    // Of two rows for one prefix, neither is known to be right, so neither is used.
    if (same.length === 1) rows.set(prefix, same[0]!)
    else quarantined.push(...same.map((row) => ({ row, problem: 'duplicate_prefix' as const })))
  }
  return { rows, quarantined }
}

function problemOf(regionId: number, row: PlanRow, prefix: Prefix | undefined): RowProblem | undefined {
  if (row.regionId !== regionId) return 'other_region'
  if (prefix === undefined) return 'prefix_invalid'
  if (isDefaultRoute(prefix)) return 'default_route'
  if (typeof row.desired !== 'boolean') return 'desired_unknown'
  if (row.blackholeId !== undefined && !isHost(prefix)) return 'host_invalid'
  // A black hole whose announcement is gone has no origin, and is withdrawn.
  const needsOrigin = row.blackholeId === undefined || row.desired
  if (needsOrigin && !isAsn(row.originAsn)) return 'origin_invalid'
  if (!Number.isInteger(row.blackholeId ?? row.announcementId)) return 'announcement_missing'
  if (row.desired && row.checkedOrigin !== row.originAsn) return 'origin_unchecked'
  return undefined
}

/** The prefix of a row, or undefined if it cannot be parsed. */
export function readPrefix(text: unknown): Prefix | undefined {
  try {
    return parsePrefix(text as string)
  } catch {
    return undefined
  }
}

function isAsn(value: unknown): value is number {
  try {
    return typeof value === 'number' && parseAsn(value) === value
  } catch {
    return false
  }
}
