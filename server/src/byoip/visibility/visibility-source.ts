// The port to one source of BGP routes as route collectors in other networks see them: RIS Live, files that the
// operator writes, or a simulation. Drivers import it by type only. A source reports the received data without
// evaluating it.
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Component } from '../../runtime/component.ts'

/** The path of a route, from the collector's neighbor to the origin, without sets of ASNs (AS_SET). */
export type AsPath = readonly number[]

export type CollectorRoute = {
  /** The address of the router that sends its routes to a route collector: one point of view, in the API a collector. */
  readonly collector: string
  readonly path: AsPath
}

/** A change of one route. The path is null if the collector has no route for the prefix any longer. */
export type RouteUpdate = {
  readonly prefix: Prefix
  readonly collector: string
  readonly path: AsPath | null
  readonly at: Date
}

/** Receives the events of a source. The calls are synchronous, and updates of one collector arrive in their order. */
export type VisibilitySink = {
  /** From this time on, no change of the prefix is missed. */
  followed(prefix: Prefix, since: Date): void
  /** All routes for the prefix at that time; an unlisted collector has no route. */
  table(prefix: Prefix, routes: readonly CollectorRoute[], at: Date): void
  update(update: RouteUpdate): void
  /** The session of the collector has ended: its routes are not known until it reports them again. */
  collectorDown(collector: string): void
  /** Changes may have been missed: earlier reports no longer count, except that the collectors exist. */
  gap(): void
}

/** A prefix to follow. Only a simulation uses more than the prefix. */
export type FollowedPrefix = {
  readonly prefix: Prefix
  readonly originAsn: Asn
  /** The last change on our routers; null if they never announced it. */
  readonly change: { readonly kind: 'announced' | 'withdrawn'; readonly at: Date } | null
}

export type VisibilitySourceStatus = {
  readonly state: 'current' | 'unavailable'
  /** Time of the newest data. */
  readonly asOf: Date | null
  /** Why it has no current data, for operators; null if it has. */
  readonly problem: string | null
}

export interface VisibilitySource extends Component {
  /** For operators: as configured, without credentials. */
  readonly name: string
  /** For customers: the kind of source, such as `RIS Live`. */
  readonly label: string
  /** Sets the receiver of events, before the start. */
  connect(sink: VisibilitySink): void
  /** Replaces the prefixes to follow; more-specific prefixes are reported too. May be called at any time, often without a change. */
  follow(prefixes: readonly FollowedPrefix[]): void
  status(): VisibilitySourceStatus
}
