// The threshold of the detector, as the platform file, teams and the detector have it.
import type { Prefix } from '../net/prefix.ts'

/** Rates from which traffic is an attack. Undefined: not a criterion. */
export type Threshold = {
  /** Only for addresses in the prefix; undefined for all. */
  readonly prefix?: Prefix
  /** Only for addresses of the team; undefined for all. */
  readonly teamId?: number
  /** Set by the team, or by the operator so that teams cannot replace it. */
  readonly ofTeam?: boolean
  readonly isLocked?: boolean
  readonly bps?: number
  readonly pps?: number
  /** Multiple of the usual traffic of a host; traffic below it is no attack on the host. */
  readonly ratio?: number
  /** For networks as a whole, whose hosts are below their own limits; default four times the host's. */
  readonly networkBps?: number
  readonly networkPps?: number
  /** For traffic that a host sends; default as to it. */
  readonly outgoingBps?: number
  readonly outgoingPps?: number
  /** For as long the limit must be exceeded; default 0. */
  readonly minSeconds?: number
}
