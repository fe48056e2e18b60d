// The port to the BGP speaker of one region: which routes it announces for us, and how to change them. Drivers
// import it by type only. It must not depend on a wire format, an announcement row or a team.
import type { SessionReason } from '@pharos/contract/reason/session-reason'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'

/** The error of every call of a speaker; `kind` is `unreachable`, `refused` or `protocol`. */
export { DriverError as SpeakerError } from '../../runtime/driver-error.ts'

/**
 * A route to announce. The prefix is its key: a speaker has at most one route of its owner per prefix.
 *
 * - `asPath`: leftmost first, without the speaker's own ASN, which it prepends towards its neighbors. `[]` originates
 *   the prefix as the speaker's ASN; `[64496]` announces a customer's prefix with the customer's ASN as origin, so that
 *   the neighbors of AS64500 receive `64500 64496`.
 * - `nextHop`: an address of the prefix's family, or `0.0.0.0` / `::` for the speaker itself. `::` works only for
 *   neighbors over IPv6: a session over IPv4 has no IPv6 address to use, and the neighbor drops the route.
 * - `communities`: RFC 1997, `asn:value`, each at most 65535. `largeCommunities`: RFC 8092, `asn:value:value`. Both are
 *   sets: the order has no meaning. The owner community is not included; the driver adds and removes it.
 */
export type Route = {
  readonly prefix: Prefix
  readonly asPath: readonly number[]
  readonly nextHop: string
  readonly communities: readonly string[]
  readonly largeCommunities: readonly string[]
}

/**
 * A route as the speaker has it. `isBest`: it is the best path of its prefix. Otherwise the speaker advertises another one, of a
 * neighbor or of another client.
 */
export type InstalledRoute = Route & { readonly isBest: boolean }

/** Returns the route without the speaker's additions, to store it. */
export function plainRoute(route: Route): Route {
  const { prefix, asPath, nextHop, communities, largeCommunities } = route
  return { prefix, asPath, nextHop, communities, largeCommunities }
}

/**
 * The prefixes that a neighbor receives, each with the origin: the last ASN of the path, 0 if the path ends in a set, and null for
 * an empty path, which an internal neighbor receives of a prefix of the speaker's own ASN.
 */
export type Advertised = ReadonlyMap<Prefix, number | null>

/**
 * Identity of the daemon, such as `{ name: 'GoBGP', version: '3.x', asn: 64500, routerId: '192.0.2.1', key: '192.0.2.1 64500:1:1' }`.
 * Speakers with the same key read and change the same routes: it is of the daemon and of the owner.
 */
export type SpeakerIdentity = {
  readonly name: string
  readonly version: string
  readonly asn: number
  readonly routerId: string
  readonly key: string
}

/** The states of RFC 4271 section 8.2.2, and `down` for a neighbor that its operator has disabled. */
export type NeighborState =
  | 'idle'
  | 'connect'
  | 'active'
  | 'opensent'
  | 'openconfirm'
  | 'established'
  | 'down'

/** Why a session is down, with the text of the speaker, if any: the code of a NOTIFICATION. */
export type SessionEnd = { readonly reason: SessionReason; readonly detail?: string }

/** A BGP neighbor of the speaker. Only an established one receives our routes. */
export type Neighbor = {
  readonly address: string
  readonly asn: number
  readonly state: NeighborState
  /** When the session was established or lost, in whole seconds; absent if the speaker does not report it. */
  readonly since?: Date
  /** The address families that both sides support (unicast); empty unless the session is established. */
  readonly families: readonly Family[]
  readonly description?: string
  /** Why the session is not established; absent if the speaker does not know. */
  readonly end?: SessionEnd
}

/**
 * Callbacks of a watcher. They have no arguments and are merged: query the needed state.
 *
 * - `onUp`: the speaker became reachable again. If it was restarted, it has lost Pharos' routes, and its neighbors
 *   remove them soon after; other callbacks do not report events in between.
 * - `onTableChange`: another client added, changed or removed a route of the owner. The more often that happens, the
 *   later it is reported (up to 30 s). Changes by this `Speaker` value are not reported, and while a foreign route for
 *   the same prefix exists, a change by another client may not be.
 * - `onNeighborChange`: a session was established or lost.
 */
export type SpeakerEvents = {
  readonly onUp: () => void
  readonly onTableChange: () => void
  readonly onNeighborChange: () => void
}

/**
 * A speaker is shared with people and other programs. Each call reads and changes only routes with the owner community
 * of its configuration (a large community `asn:function:owner`, so that 4-byte ASNs fit).
 *
 * Every call ends within the timeout of the driver's configuration and otherwise rejects with a `SpeakerError`. Calls
 * are not retried. After a rejected change, `list()` returns the actual state.
 */
export interface Speaker {
  /** Returns the daemon's identity; rejects with `protocol` for an unsupported version. */
  probe(): Promise<SpeakerIdentity>
  /** Returns all our routes, in no particular order, or rejects: never a part of them. */
  list(): Promise<readonly InstalledRoute[]>
  /**
   * Returns our routes for exactly these prefixes, as `list()` does: without more specific or covering routes, and
   * without absent ones. Its duration depends on the number of prefixes, not of routes; `[]` sends no query.
   */
  find(prefixes: readonly Prefix[]): Promise<readonly InstalledRoute[]>
  /** Announces these routes, replacing the attributes of existing ones. Idempotent. */
  announce(routes: readonly Route[]): Promise<void>
  /**
   * Withdraws our routes for these prefixes, whatever their attributes are. Absent routes are ignored; `[]` has no
   * effect.
   */
  withdraw(routes: readonly Pick<Route, 'prefix'>[]): Promise<void>
  /**
   * Returns all routes that the neighbor receives, ours and others, after the export policies of the speaker. Undefined if the
   * last `list` found more than `pathsMax` paths of the family, or has not run: the daemon may compute the answer in the loop that
   * sends updates. Only for established neighbors; rejects
   * with `refused` for an unknown one.
   */
  advertised(neighbor: string, family: Family, pathsMax: number): Promise<Advertised | undefined>
  /**
   * Returns all configured neighbors, and neighbors that connected without an individual configuration (dynamic
   * neighbors), in no particular order.
   */
  neighbors(): Promise<readonly Neighbor[]>
  /** Keeps the connection up and reports events from now on. Returns a function that stops watching. */
  watch(events: SpeakerEvents): () => void
  /** Closes the connection; running calls reject. Announced routes stay announced. */
  close(): Promise<void>
}

/** Returns the next hop that denotes the speaker itself in the prefix's family. */
export function selfNextHop(prefix: Prefix): string {
  return prefix.includes(':') ? '::' : '0.0.0.0'
}

/** Returns whether announcing `b` over `a` has no effect; communities are compared as sets. */
export function sameRoute(a: Route, b: Route): boolean {
  return (
    a.prefix === b.prefix &&
    a.nextHop === b.nextHop &&
    sameList(a.asPath, b.asPath) &&
    sameSet(a.communities, b.communities) &&
    sameSet(a.largeCommunities, b.largeCommunities)
  )
}

function sameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at])
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  if (sameList(a, b)) return true
  const left = new Set(a)
  const right = new Set(b)
  return left.size === right.size && b.every((value) => left.has(value))
}
