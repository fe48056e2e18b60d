// The resources that teams hold, as the matching of events sees them.
import type { Prefix } from '../../net/prefix.ts'

export type Location = { readonly key: string; readonly name: string; readonly country: string }

/**
 * A prefix or an announcement of a team. An announcement counts from the moment when all its checks passed until it is
 * deleted: an unchecked one would show the team attacks on another network.
 */
export type Holding = {
  readonly teamId: number
  readonly resource: 'prefix' | 'announcement'
  readonly id: number
  readonly prefix: Prefix
  /** Empty if missing. */
  readonly name: string
  readonly location: Location | null
  /** For announcements only. */
  readonly originAsn: number | null
}

export type AsnHolding = {
  readonly teamId: number
  readonly id: number
  readonly asn: number
  readonly name: string
}
