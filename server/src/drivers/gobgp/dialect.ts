// What differs between the versions of GoBGP that the speaker speaks: their services, their messages, what must be said
// and what goes without saying. The routes in those messages are the same octets everywhere, see codec.ts.
import type { DescMessage, DescMethodClientStreaming } from '@bufbuild/protobuf'
import type { Neighbor } from '../../byoip/reconcile/speaker.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { GobgpClient } from './client.ts'
import type { Path } from './codec.ts'
import type { DaemonEvent } from './events.ts'

export type Dialect = {
  /** For people: which daemons speak it. */
  readonly version: string
  /** The method that takes announcements and withdrawals: a stream of `encodeChange`'s octets, answered once. */
  readonly change: DescMethodClientStreaming<DescMessage, DescMessage>
  /** The number of the global table in a change, or undefined where the daemon means it without being told. */
  readonly globalTable: number | undefined
  /** One message of the stream. */
  encodeChange(paths: Path[]): Uint8Array
  /** What the daemon will read in the octets. */
  decodeChange(octets: Uint8Array): Change
  /** Who the daemon is, or undefined when it does not say; rejects with `protocol` when it does not speak the dialect. */
  getGlobal(client: GobgpClient, deadline: Date): Promise<Global | undefined>
  /** All paths of the global table, or only those of the prefixes. Releases may answer more than that. */
  listPaths(client: GobgpClient, selection: Selection, deadline: Date): Promise<Path[]>
  listNeighbors(client: GobgpClient, deadline: Date): Promise<Neighbor[]>
  /** Follows changes of neighbours and of best paths; `onEnd` is called once. Returns how to cancel. */
  watch(client: GobgpClient, onEvent: (event: DaemonEvent) => void, onEnd: () => void): () => void
}

export type Global = { readonly asn: number; readonly routerId: string }

export type Selection = {
  readonly family: { readonly afi: number; readonly safi: number }
  /** None: the whole table. */
  readonly prefixes: readonly Prefix[]
}

export type Change = {
  readonly tableType?: number
  readonly paths: readonly (Path & Unread)[]
} & Unread

/** What a message has besides the fields that we know. */
type Unread = { readonly $unknown?: readonly unknown[] | undefined }
