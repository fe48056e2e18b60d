// A BGP session as a device reports it.
import type { BgpState } from '@pharos/contract/inventory/bgp-session'

/** A session of the device with a neighbor. Null: not reported. */
export type SeenBgpSession = {
  /** Routing instance, as the device numbers it; empty for the only one. */
  readonly instance: string
  /** Canonical text. */
  readonly peer: string
  readonly peerAsn: number | null
  readonly state: BgpState
  /** Seconds since it was established, or last was; null if never. */
  readonly establishedSeconds: number | null
  /** Counters of unicast families. */
  readonly prefixes: readonly {
    readonly family: 'ipv4' | 'ipv6'
    readonly received: number | null
    readonly limit: number | null
  }[]
  /** The last NOTIFICATION of RFC 4271 section 4.5, of either side. */
  readonly error: { readonly code: number; readonly subcode: number; readonly text: string } | null
}
