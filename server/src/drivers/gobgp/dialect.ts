// Differences between the supported versions of GoBGP: services, messages, and which fields are required. The routes in the
// messages are the same octets in every version, see codec.ts.
import type { DescMessage, DescMethodClientStreaming } from '@bufbuild/protobuf'
import type { Prefix } from '../../net/prefix.ts'
import type { GobgpClient } from './client.ts'
import type { GobgpPath } from './codec.ts'
import type { DaemonEvent } from './events.ts'
import type { CountedNeighbor } from './neighbors.ts'

export type Dialect = {
  /** The supported daemons, for messages. */
  readonly version: string
  /** The method for announcements and withdrawals: a stream of `encodeChange`'s octets with one answer. */
  readonly change: DescMethodClientStreaming<DescMessage, DescMessage>
  /** The number of the global table in a change, or undefined if it is the default. */
  readonly globalTable: number | undefined
  /**
   * Octets of the next hop that a FlowSpec rule needs to be accepted. Neighbors never receive them: such rules have no
   * next hop (RFC 8955 section 4).
   */
  readonly flowspecNextHop: readonly number[]
  /** One message of the stream. */
  encodeChange(paths: GobgpPath[]): Uint8Array
  /** The prefix that the daemon decodes from the octets. */
  decodeChange(octets: Uint8Array): PathChange
  /** Identity of the daemon, if it reports one; rejects with `protocol` if it does not support the dialect. */
  getGlobal(client: GobgpClient, deadline: Date): Promise<Global | undefined>
  /**
   * The paths of each destination of the table, best first; all destinations, or only the prefixes. Some releases
   * return more destinations.
   */
  listPaths(client: GobgpClient, selection: Selection, deadline: Date): Promise<GobgpPath[][]>
  listNeighbors(client: GobgpClient, deadline: Date): Promise<CountedNeighbor[]>
  /** Follows changes of neighbors and of best paths; `onEnd` is called once. Returns the function that cancels it. */
  watch(client: GobgpClient, onEvent: (event: DaemonEvent) => void, onEnd: () => void): () => void
}

export type Global = { readonly asn: number; readonly routerId: string }

export type Selection = {
  readonly family: { readonly afi: number; readonly safi: number }
  /** Empty: the whole table. */
  readonly prefixes: readonly Prefix[]
  /** Reads the paths that this neighbor receives instead of the global table. */
  readonly neighbor?: string
}

export type PathChange = {
  readonly tableType?: number
  readonly paths: readonly (GobgpPath & Unread)[]
} & Unread

/** Fields of a message that are not in our definition. */
type Unread = { readonly $unknown?: readonly unknown[] | undefined }
