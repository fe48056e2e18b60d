// The port to one source of validated ROA payloads (VRPs): an RTR cache, or an export of a validator. Drivers import it by
// type only. It must not know an announcement or another source.
import type { Prefix } from '../net/prefix.ts'
import type { Component } from '../runtime/component.ts'
import type { AnnouncedOrigins } from './objects/announced-origins.ts'
import type { RoaTable } from './objects/roa-table.ts'

/**
 * The prefixes at which VRPs were added or removed, so that covered prefixes have to be judged again. `all` if unknown.
 */
export type TouchedPrefixes = readonly Prefix[] | 'all'

/** A complete set of VRPs to judge by, last confirmed by its source at `asOf`. Read it again for each use. */
export type CurrentVrps = { readonly table: RoaTable; readonly asOf: Date }

/**
 * A new set that is not used yet, because it is empty, lost more than 20 % of its VRPs or all of a trust anchor, or takes validity from
 * many of our announcements.
 */
export type Suspicion = {
  readonly table: RoaTable
  /** The greatest number of VRPs of the source within the confirmation time; 0 if it had no set yet. */
  readonly before: number
  /** The losses of the set, for operators. */
  readonly loss: string
  /** Whether the set of another source has the same loss. */
  isConfirmedBy(other: RoaTable): boolean
  readonly since: Date
  /** When the set is used, if the source still has it. */
  readonly until: Date
}

export type VrpSourceStatus = {
  readonly state: 'current' | 'unavailable'
  /** The number of VRPs of the current set. */
  readonly vrps: number
  readonly suspicious: boolean
  readonly asOf: Date | null
  /** The time at which the current set expires. */
  readonly expires: Date | null
  /** Why the source is unavailable or not being renewed, for operators; null if there is no problem. */
  readonly problem: string | null
}

export interface VrpSource extends Component {
  /** For operators: as configured, without credentials. */
  readonly name: string
  /** For customers: the kind of source, without its address, such as `RTR cache`. */
  readonly label: string
  /** Returns undefined before the first complete set and after the last one has expired. Never a suspicious set. */
  current(): CurrentVrps | undefined
  /** Returns undefined while the source's last set is the current one. */
  suspicion(): Suspicion | undefined
  /** Sets our announcements, whose validity a new set must not take away in large numbers. */
  setAnnounced(origins: AnnouncedOrigins): void
  /** Makes the suspicious set current, because another source confirms it. */
  accept(): void
  /** Calls the listener after each change of `current()` or `suspicion()`, also on expiry. Returns the function that unsubscribes. */
  onChange(listener: (touched: TouchedPrefixes) => void): () => void
  status(): VrpSourceStatus
}
