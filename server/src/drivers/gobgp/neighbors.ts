// Converts GoBGP's Peer into Neighbor. The versions number the administrative states differently and nest the capabilities
// differently; the dialects provide both. It does not decide whether a region is announced.
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import type { Neighbor, NeighborState, SessionEnd } from '../../byoip/regions/speaker.ts'
import type { Family } from '../../net/bits.ts'
import { afiOf, safiUnicast } from './attributes.ts'

/** The part of a Peer that is the same in all versions. */
export type GobgpPeer = {
  readonly conf?: Conf | undefined
  readonly state?: State | undefined
  readonly timers?: { readonly state?: Times | undefined } | undefined
  readonly afiSafis: readonly { readonly config?: { readonly family?: WireFamily | undefined } | undefined }[]
}

type Conf = { readonly description: string; readonly neighborAddress: string; readonly peerAsn: number }
type State = Omit<Conf, 'description'> & {
  readonly sessionState: number
  readonly adminState: number
  readonly messages?:
    | { readonly received?: Counted | undefined; readonly sent?: Counted | undefined }
    | undefined
}
type Counted = { readonly notification: bigint }
type Times = { readonly uptime?: Timestamp | undefined; readonly downtime?: Timestamp | undefined }

export type WireFamily = { readonly afi: number; readonly safi: number }

/** PeerState.SessionState by number; 0 is "unknown" in both versions. */
const states: readonly NeighborState[] = [
  'idle',
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
]

/** A neighbor with the number of NOTIFICATION messages of all of its sessions. */
export type CountedNeighbor = Neighbor & { readonly notifications: Notifications }
export type Notifications = { readonly received: bigint; readonly sent: bigint }

/** The numbers of PeerState.AdminState. */
export type AdminStates = { readonly down: number; readonly prefixLimit: number }

/** `offered` are the families of the neighbor's OPEN (RFC 4760); `reported` is why the session ended, if the version reports it. */
export function neighborOf(
  peer: GobgpPeer,
  adminStates: AdminStates,
  offered: readonly WireFamily[],
  reported?: SessionEnd,
): CountedNeighbor {
  const { conf, state, timers } = peer
  const session = states[state?.sessionState ?? 0] ?? 'idle'
  const isEstablished = session === 'established'
  const since = dateOf(isEstablished ? timers?.state?.uptime : timers?.state?.downtime)
  return {
    // A dynamic neighbor has its ASN in the state only, a neighbor on an interface its address.
    address: state?.neighborAddress || conf?.neighborAddress || '',
    asn: state?.peerAsn || conf?.peerAsn || 0,
    state: state?.adminState === adminStates.down ? 'down' : session,
    ...(since ? { since } : {}),
    families: isEstablished ? negotiated(peer, offered) : [],
    ...(conf?.description ? { description: conf.description } : {}),
    ...(isEstablished ? {} : endOf(state?.adminState, adminStates, reported)),
    notifications: {
      received: state?.messages?.received?.notification ?? 0n,
      sent: state?.messages?.sent?.notification ?? 0n,
    },
  }
}

function endOf(
  adminState: number | undefined,
  { down, prefixLimit }: AdminStates,
  reported: SessionEnd | undefined,
): { readonly end?: SessionEnd } {
  if (adminState === down) return { end: { ...reported, reason: 'disabled' } }
  if (adminState === prefixLimit) return { end: { ...reported, reason: 'prefix_limit' } }
  return reported ? { end: reported } : {}
}

/**
 * Adds why a session is down to a neighbor of a version that does not report it, from the messages since it was last seen established.
 */
export function withEnd(
  { notifications: { received, sent }, ...neighbor }: CountedNeighbor,
  established: Notifications | undefined,
): Neighbor {
  if (neighbor.state === 'established' || neighbor.end || !established) return neighbor
  const reason =
    received > established.received
      ? 'notification_received'
      : sent > established.sent
        ? 'notification_sent'
        : 'connection_lost'
  return { ...neighbor, end: { reason } }
}

/** The restart gate of docs/operating/gobgpd.toml is configured as a neighbor, but is not one. */
export function isRestartGate({ address }: Neighbor): boolean {
  return address === '127.255.255.254'
}

/** A neighbor that offers no families uses IPv4 unicast (RFC 4760 section 8). */
function negotiated({ afiSafis }: GobgpPeer, offered: readonly WireFamily[]): Family[] {
  const configured = afiSafis.map(({ config }) => config?.family)
  const theirs = offered.length > 0 ? offered : [{ afi: afiOf(4), safi: safiUnicast }]
  return ([4, 6] as const).filter((family) => has(configured, family) && has(theirs, family))
}

function has(families: readonly (WireFamily | undefined)[], family: Family): boolean {
  return families.some((one) => one?.afi === afiOf(family) && one.safi === safiUnicast)
}

function dateOf(timestamp: Timestamp | undefined): Date | undefined {
  return timestamp && timestamp.seconds > 0n ? timestampDate(timestamp) : undefined
}
