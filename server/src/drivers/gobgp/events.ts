// Events of a GoBGP daemon, decoded the same way for every version: states of its neighbors, and changed best paths.
// Only best paths include routes that the daemon originated (its other filters report received routes), so a change of
// another path of the prefix is not reported.
import { isIP } from 'node:net'
import type { Neighbor } from '../../byoip/regions/speaker.ts'
import { type Prefix, parsePrefix } from '../../net/prefix.ts'

export type DaemonEvent =
  /** The state of a neighbor: initially for each neighbor, then after each change. */
  | { readonly kind: 'neighbor'; readonly isInitial: boolean; readonly neighbor: Neighbor }
  /** All neighbors were reported: no later change is missed. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'paths'; readonly paths: readonly ChangedPath[] }

/** A path that was originated at the daemon. */
export type ChangedPath = {
  /** Undefined unless it is IPv4 or IPv6 unicast. */
  readonly prefix: Prefix | undefined
  readonly identifier: number
  readonly isWithdraw: boolean
}

/** The part of a WatchEventResponse that is the same in all versions. */
type Response<Peer, Path> = {
  readonly event:
    | {
        readonly case: 'peer'
        readonly value: { readonly type: number; readonly peer?: Peer | undefined }
      }
    | { readonly case: 'table'; readonly value: { readonly paths: readonly Path[] } }
    | { readonly case: undefined; readonly value?: undefined }
}

type WatchedPath = {
  readonly identifier: number
  readonly isWithdraw: boolean
  readonly neighborIp: string
}

/** The typed form of IPv4 and IPv6 unicast NLRI. */
type TypedPrefix = { readonly prefix: string; readonly prefixLen: number }

// WatchEventResponse.PeerEvent.Type
const peerEvent = { initial: 1, endOfInitial: 2 } as const

/** Undefined for an event that does not matter: a learned path, an empty list. */
export function readEvent<Peer, Path extends WatchedPath>(
  { event }: Response<Peer, Path>,
  neighborOf: (peer: Peer) => Neighbor,
  prefixOf: (path: Path) => TypedPrefix | undefined,
): DaemonEvent | undefined {
  if (event.case === 'peer') {
    const { type, peer } = event.value
    if (type === peerEvent.endOfInitial) return { kind: 'complete' }
    if (!peer) return undefined
    return { kind: 'neighbor', isInitial: type === peerEvent.initial, neighbor: neighborOf(peer) }
  }
  if (event.case !== 'table') return undefined
  const paths = event.value.paths.filter(({ neighborIp }) => isIP(neighborIp) === 0)
  if (paths.length === 0) return undefined
  return {
    kind: 'paths',
    paths: paths.map((path) => ({
      prefix: readTyped(prefixOf(path)),
      identifier: path.identifier,
      isWithdraw: path.isWithdraw,
    })),
  }
}

function readTyped(typed: TypedPrefix | undefined): Prefix | undefined {
  try {
    return typed && parsePrefix(`${typed.prefix}/${typed.prefixLen}`)
  } catch {
    return undefined
  }
}
