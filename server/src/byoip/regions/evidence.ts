// Routes that the neighbors of a router receive: each full run queries one neighbor of each router, in turn, and the
// results are kept until its next turn. Decides whether any neighbor receives a route of the router. Pure.
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Advertised, Neighbor, Route } from './speaker.ts'

/** Paths of a family in the table of a router above which its neighbors are not asked. */
export const advertisedPathsMax = 50_000

/** The last check of one family of a neighbor, as stored in `region_routers.neighbor_checks`. */
export type NeighborCheck = {
  readonly address: string
  readonly family: Family
  /** ISO 8601. */
  readonly at: string
  /** Our routes that the neighbor receives with their origin; null if the table was too large to ask. */
  readonly received: number | null
  /** Our prefixes that it did not receive with their origin. */
  readonly missing: readonly Prefix[]
  /** Prefixes that the previous check missed as well. */
  readonly missingTwice: readonly Prefix[]
}

/** The answer about one family of a neighbor; undefined if the table was too large to ask. */
export type NeighborAnswer = {
  readonly address: string
  readonly family: Family
  readonly advertised: Advertised | undefined
}

type SessionState = Pick<Neighbor, 'address' | 'asn' | 'state' | 'families'>

/**
 * Returns the neighbors of a family that count: the established external ones. If a router has no external neighbor,
 * its internal neighbors lead to other networks and count instead.
 */
function countedNeighbors(
  neighbors: readonly SessionState[],
  asn: number,
  family: Family,
): readonly SessionState[] {
  const up = neighbors.filter(({ state, families }) => state === 'established' && families.includes(family))
  const external = up.filter((neighbor) => neighbor.asn !== asn)
  return external.length > 0 ? external : up
}

/** Returns the neighbor to check next, with its families: a neighbor without a check, or with the oldest check. */
export function nextNeighbor(
  neighbors: readonly Neighbor[],
  asn: number,
  checks: readonly NeighborCheck[],
): { readonly address: string; readonly families: readonly Family[] } | undefined {
  const counted = ([4, 6] as const).flatMap((family) =>
    countedNeighbors(neighbors, asn, family).map(({ address }) => ({ address, family })),
  )
  const lastOf = (address: string) => checks.find((check) => check.address === address)?.at ?? ''
  const [next] = [...Map.groupBy(counted, ({ address }) => address)].sort(([a], [b]) =>
    lastOf(a).localeCompare(lastOf(b)),
  )
  return next && { address: next[0], families: next[1].map(({ family }) => family) }
}

/** A router during a run: its neighbors, and its routes including the changes of this run. */
export type CheckedRouter = {
  readonly asn: number
  readonly neighbors: readonly Neighbor[]
  /** Routes as read before the neighbor was queried. */
  readonly observed: readonly Route[]
  /** Prefixes that the run has changed since. */
  readonly changed: ReadonlySet<Prefix>
}

/** Returns the checks after a run. A neighbor whose session was lost has no checks: the next session starts again. */
export function updateChecks(
  before: readonly NeighborCheck[],
  { asn, neighbors, observed, changed }: CheckedRouter,
  answers: readonly NeighborAnswer[],
  at: Date,
): NeighborCheck[] {
  const present = new Map(
    observed.filter(({ prefix }) => !changed.has(prefix)).map((route) => [route.prefix, route]),
  )
  const isKnown = ({ address, family }: Pick<NeighborCheck, 'address' | 'family'>) =>
    countedNeighbors(neighbors, asn, family).some((neighbor) => neighbor.address === address)
  const isSame = (a: NeighborAnswer, b: NeighborCheck) => a.address === b.address && a.family === b.family
  const others = before
    .filter((check) => isKnown(check) && !answers.some((answer) => isSame(answer, check)))
    .map((check) => ({
      ...check,
      missing: check.missing.filter((prefix) => present.has(prefix)),
      missingTwice: check.missingTwice.filter((prefix) => present.has(prefix)),
    }))
  const asked = answers.filter(isKnown).map(({ address, family, advertised }): NeighborCheck => {
    const last = before.find((check) => check.address === address && check.family === family)
    const stamp = { address, family, at: at.toISOString() }
    if (!advertised) return { ...stamp, received: null, missing: [], missingTwice: [] }
    const ours = [...present.values()].filter(({ prefix }) => familyOf(prefix) === family)
    const missing = ours.filter((route) => !isReceived(route, advertised, asn)).map(({ prefix }) => prefix)
    const missingBefore = new Set(last?.missing)
    return {
      ...stamp,
      received: ours.length - missing.length,
      missing,
      missingTwice: missing.filter((prefix) => missingBefore.has(prefix)),
    }
  })
  return [...others, ...asked]
}

/** Another origin means that the neighbor receives the route of another network. */
function isReceived({ prefix, asPath }: Route, advertised: Advertised, asn: number): boolean {
  return advertised.has(prefix) && (advertised.get(prefix) ?? asn) === (asPath.at(-1) ?? asn)
}

/** How many neighbors of a router are up and count, how many of them received a prefix, and of how many that is unknown. */
export type HeardBy = { readonly neighbors: number; readonly heard: number; readonly unchecked: number }

/** `no`: no neighbor received it in its last two checks. */
export type Hearing = 'yes' | 'no' | 'unknown'

/** Answers questions about one router. */
export type RouterHearing = {
  /** Only checks after `sinceMs` count: the route was not announced before. Milliseconds since 1970; null: all. */
  heardBy(prefix: Prefix, sinceMs: number | null): HeardBy
  hearing(prefix: Prefix, sinceMs: number | null): Hearing
}

export function hearingOf(
  neighbors: readonly SessionState[],
  asn: number,
  checks: readonly NeighborCheck[],
): RouterHearing {
  const answers = { 4: answersOf(neighbors, asn, checks, 4), 6: answersOf(neighbors, asn, checks, 6) }
  const knownOf = (prefix: Prefix, sinceMs: number | null) => {
    const counted = answers[familyOf(prefix)]
    return { counted, known: counted.filter(({ atMs }) => atMs > (sinceMs ?? -Infinity)) }
  }
  return {
    heardBy(prefix, sinceMs) {
      const { counted, known } = knownOf(prefix, sinceMs)
      const heard = known.filter(({ missing }) => !missing.has(prefix)).length
      return { neighbors: counted.length, heard, unchecked: counted.length - known.length }
    },
    hearing(prefix, sinceMs) {
      const { counted, known } = knownOf(prefix, sinceMs)
      if (known.some(({ missing }) => !missing.has(prefix))) return 'yes'
      const isSure = known.length === counted.length && counted.length > 0
      return isSure && known.every(({ missingTwice }) => missingTwice.has(prefix)) ? 'no' : 'unknown'
    },
  }
}

/** One entry for each neighbor that counts; the time of one without a usable check is before all others. */
function answersOf(
  neighbors: readonly SessionState[],
  asn: number,
  checks: readonly NeighborCheck[],
  family: Family,
) {
  return countedNeighbors(neighbors, asn, family).map(({ address }) => {
    const check = checks.find((one) => one.address === address && one.family === family)
    return {
      atMs: check && check.received !== null ? Date.parse(check.at) : -Infinity,
      missing: new Set(check?.missing),
      missingTwice: new Set(check?.missingTwice),
    }
  })
}
