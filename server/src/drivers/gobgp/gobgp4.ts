// GoBGP 4.x, see docs/decisions/009-gobgp-4.md: tested against a simulated server that follows its published definitions, and in the long
// run against a daemon.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { SessionEnd } from '../../byoip/regions/speaker.ts'
import type { GobgpPath } from './codec.ts'
import type { Dialect } from './dialect.ts'
import { readEvent } from './events.ts'
import {
  AddPathStreamRequestSchema,
  GetBgpRequestSchema,
  GoBgpService,
  ListPathRequestSchema,
  ListPeerRequestSchema,
  type Path as EventPath,
  type Peer,
  TableLookupPrefix_Type,
  TableType,
  WatchEventRequestSchema,
  type WatchEventResponse,
} from './generated/gobgp4_pb.js'
import { neighborOf, type CountedNeighbor } from './neighbors.ts'

const { getBgp, listPath, addPathStream, listPeer, watchEvent } = GoBgpService.method

/** PeerState.AdminState: ADMIN_STATE_DOWN, ADMIN_STATE_PFX_CT */
const adminStates = { down: 2, prefixLimit: 3 }
/** WatchEventRequest.Table.Filter.Type.TYPE_BEST */
const bestPaths = 1

/** Characters of a disconnect message that are kept: it may have a text of the neighbor (RFC 9003). */
const detailMax = 300

const tableType = TableType.GLOBAL

export const gobgp4: Dialect = {
  version: '4.x',
  change: addPathStream,
  globalTable: tableType,
  // AddPathStream of 4.8.0 rejects every announcement without a next hop, AddPath only announcements that are not
  // FlowSpec rules.
  flowspecNextHop: [0, 0, 0, 0],

  encodeChange: (paths) =>
    toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { tableType, paths })),
  decodeChange: (octets) => fromBinary(AddPathStreamRequestSchema, octets),

  async getGlobal(client, deadline) {
    const { global } = await client.unary(getBgp, create(GetBgpRequestSchema), deadline)
    return global
  },

  async listPaths(client, { family, prefixes, neighbor: name }, deadline) {
    const lookups = prefixes.map((prefix) => ({ prefix, type: TableLookupPrefix_Type.EXACT }))
    const table = name === undefined ? { tableType } : { tableType: TableType.ADJ_OUT, name }
    const request = create(ListPathRequestSchema, {
      ...table,
      family,
      prefixes: lookups,
      enableOnlyBinary: true,
    })
    const destinations: GobgpPath[][] = []
    await client.serverStream(listPath, request, deadline, ({ destination }) => {
      if (destination) destinations.push(destination.paths)
    })
    return destinations
  },

  async listNeighbors(client, deadline) {
    const neighbors: CountedNeighbor[] = []
    await client.serverStream(listPeer, create(ListPeerRequestSchema), deadline, ({ peer }) => {
      if (peer) neighbors.push(readPeer(peer))
    })
    return neighbors
  },

  watch(client, onEvent, onEnd) {
    const request = create(WatchEventRequestSchema, { peer: {}, table: { filters: [{ type: bestPaths }] } })
    const onMessage = (message: WatchEventResponse): void => {
      const event = readEvent(message, readPeer, readPrefix)
      if (event) onEvent(event)
    }
    return client.follow(watchEvent, request, onMessage, onEnd)
  },
}

function readPeer(peer: Peer): CountedNeighbor {
  const capabilities = peer.state?.remoteCap ?? []
  const offered = capabilities.map(({ cap }) => cap.case === 'multiProtocol' && cap.value.family)
  return neighborOf(
    peer,
    adminStates,
    offered.filter((family) => family !== undefined && family !== false),
    endOf(peer),
  )
}

/** PeerState.DisconnectReason. An expired idle timer has no separate reason. */
const disconnectReasons: { readonly [number: number]: SessionEnd['reason'] } = {
  1: 'disabled',
  2: 'hold_timer',
  3: 'notification_sent',
  4: 'notification_received',
  5: 'connection_lost',
  6: 'connection_lost',
  8: 'connection_lost',
  9: 'connection_lost',
  10: 'invalid_message',
  11: 'notification_received',
  12: 'disabled',
  13: 'wrong_asn',
}

function endOf({ state }: Peer): SessionEnd | undefined {
  const reason = disconnectReasons[state?.disconnectReason ?? 0]
  const detail = state?.disconnectMessage
  return reason && { reason, ...(detail ? { detail: detail.slice(0, detailMax) } : {}) }
}

function readPrefix({ nlri }: Pick<EventPath, 'nlri'>) {
  return nlri?.nlri.case === 'prefix' ? nlri.nlri.value : undefined
}
