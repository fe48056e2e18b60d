// What has to change on one region's router: a pure difference between the rows of the database and the routes that
// the router holds. It decides nothing about whether that may be done (guard.ts) or when (damping.ts).
import type { RegionState } from '@pharos/contract/byoip'
import { parseAsn } from '../../net/asn.ts'
import { isDefaultRoute, parsePrefix, type Prefix } from '../../net/prefix.ts'
import { sameRoute, selfNextHop, type Route } from './speaker.ts'

/** One row of a region as it was read. Nothing in it is believed before it was checked. */
export type PlanRow = {
  readonly announcementId: number
  readonly regionId: number
  readonly prefix: string
  readonly originAsn: number
  readonly desired: boolean
  readonly state: RegionState
  readonly message: string | null
  /** When the desired state last changed; milliseconds since 1970, as ten thousand Dates take time to make. */
  readonly changedMs: number | null
  /** When it changed so many times before the last that the ones since use up what damping allows in an hour. */
  readonly limitMs: number | null
}

/** A row that was checked: one for its prefix, of this region. */
export type CheckedRow = PlanRow & { readonly prefix: Prefix }

export type QuarantinedRow = { readonly row: PlanRow; readonly reason: string }

/** How the routes of a region look, beside what the announcement says. */
export type RouteSettings = {
  /** The next hops to announce; without one the speaker itself. */
  readonly nextHop4?: string
  readonly nextHop6?: string
  readonly communities?: readonly string[]
  readonly largeCommunities?: readonly string[]
}

export type PlanRegion = {
  readonly id: number
  /** The speaker's own ASN: a prefix with this origin is announced without a path. */
  readonly asn: number
  readonly routes: RouteSettings
}

export type Plan = {
  /** Desired, and absent or with other attributes. */
  readonly announce: readonly Route[]
  /** On the router, and a row says "not here". */
  readonly withdraw: readonly Prefix[]
  /** On the router with our owner community, and no row at all says anything about it. */
  readonly unexplained: readonly Prefix[]
  /** Desired and there, just so. */
  readonly keep: readonly Prefix[]
  /** Rows that do not make sense. What the router holds for their prefixes stays as it is. */
  readonly quarantined: readonly QuarantinedRow[]
  readonly rows: ReadonlyMap<Prefix, CheckedRow>
  readonly observed: ReadonlyMap<Prefix, Route>
}

/**
 * The order in which a plan is carried out, and its reason: announcements first, so that a network which replaces a
 * prefix by its halves, or its halves by the whole, is reachable throughout. A prefix that moves to another origin
 * needs no withdrawal before it: a speaker holds one route per prefix, and the new one takes the place of the old in
 * the same update. Moving between regions is make-before-break too, as far as two independent routers can be.
 */
export const planOrder = ['announce', 'withdraw'] as const

/** Rows of one region and all of its observed routes, to the plan. Total: what makes no sense is quarantined. */
export function planRoutes(region: PlanRegion, read: readonly PlanRow[], routes: readonly Route[]): Plan {
  const { rows, quarantined } = checkRows(region, read)
  const observed = new Map(routes.map((route) => [route.prefix, route]))
  const announce: Route[] = []
  const keep: Prefix[] = []
  for (const row of rows.values()) {
    if (!row.desired) continue
    const wanted = routeOf(region, row)
    const present = observed.get(row.prefix)
    if (present && sameRoute(present, wanted)) keep.push(row.prefix)
    else announce.push(wanted)
  }
  const untouchable = new Set(quarantined.map(({ row }) => readPrefix(row.prefix)))
  const unwanted = [...observed.keys()].filter(
    (prefix) => !rows.get(prefix)?.desired && !untouchable.has(prefix),
  )
  const withdraw = unwanted.filter((prefix) => rows.has(prefix))
  const unexplained = unwanted.filter((prefix) => !rows.has(prefix))
  return { announce, withdraw, unexplained, keep, quarantined, rows, observed }
}

/** The route that a desired row asks for. */
function routeOf({ asn, routes }: PlanRegion, { prefix, originAsn }: CheckedRow): Route {
  const nextHop = prefix.includes(':') ? routes.nextHop6 : routes.nextHop4
  return {
    prefix,
    asPath: originAsn === asn ? [] : [originAsn],
    nextHop: nextHop ?? selfNextHop(prefix),
    communities: routes.communities ?? [],
    largeCommunities: routes.largeCommunities ?? [],
  }
}

function checkRows(region: PlanRegion, read: readonly PlanRow[]) {
  const quarantined: QuarantinedRow[] = []
  const checked: CheckedRow[] = []
  for (const row of read) {
    const prefix = readPrefix(row.prefix)
    const reason = whatIsWrong(region, row, prefix)
    if (reason === undefined && prefix !== undefined)
      checked.push(row.prefix === prefix ? (row as CheckedRow) : { ...row, prefix })
    else quarantined.push({ row, reason: reason ?? '' })
  }
  const rows = new Map<Prefix, CheckedRow>()
  for (const [prefix, same] of Map.groupBy(checked, (row) => row.prefix)) {
    // Two rows for one prefix: there is no telling which of them to believe, so neither is.
    if (same.length === 1) rows.set(prefix, same[0]!)
    else quarantined.push(...same.map((row) => ({ row, reason: 'more than one row names the prefix' })))
  }
  return { rows, quarantined }
}

function whatIsWrong(region: PlanRegion, row: PlanRow, prefix: Prefix | undefined): string | undefined {
  if (row.regionId !== region.id) return 'the row is not of this region'
  if (prefix === undefined) return 'the prefix cannot be read'
  if (isDefaultRoute(prefix)) return 'the default route is never announced'
  if (typeof row.desired !== 'boolean') return 'the row does not say whether the prefix is desired'
  if (!isAsn(row.originAsn)) return 'the origin is not an AS number'
  if (!Number.isInteger(row.announcementId)) return 'the row names no announcement'
  return undefined
}

/** The prefix of a row, or undefined where there is none to be read. */
export function readPrefix(text: unknown): Prefix | undefined {
  try {
    return parsePrefix(text as string)
  } catch {
    return undefined
  }
}

function isAsn(value: unknown): boolean {
  try {
    return typeof value === 'number' && parseAsn(value) === value
  } catch {
    return false
  }
}
