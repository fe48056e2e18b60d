// GoBGP 4.x: implemented from its published definitions, and tested against a simulated server that follows them. It has
// never been used with a real 4.x daemon, see docs/decisions/009-gobgp-4.md.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { Neighbor } from '../../byoip/reconcile/speaker.ts'
import type { Path } from './codec.ts'
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
import { neighborOf } from './neighbors.ts'

const { getBgp, listPath, addPathStream, listPeer, watchEvent } = GoBgpService.method

/** PeerState.AdminState.ADMIN_STATE_DOWN */
const adminDown = 2
/** WatchEventRequest.Table.Filter.Type.TYPE_BEST */
const bestPaths = 1

const tableType = TableType.GLOBAL

export const gobgp4: Dialect = {
  version: '4.x',
  change: addPathStream,
  globalTable: tableType,

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
    const destinations: Path[][] = []
    await client.serverStream(listPath, request, deadline, ({ destination }) => {
      if (destination) destinations.push(destination.paths)
    })
    return destinations
  },

  async listNeighbors(client, deadline) {
    const neighbors: Neighbor[] = []
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

function readPeer(peer: Peer): Neighbor {
  const capabilities = peer.state?.remoteCap ?? []
  const offered = capabilities.map(({ cap }) => cap.case === 'multiProtocol' && cap.value.family)
  return neighborOf(
    peer,
    adminDown,
    offered.filter((family) => family !== undefined && family !== false),
  )
}

function readPrefix({ nlri }: Pick<EventPath, 'nlri'>) {
  return nlri?.nlri.case === 'prefix' ? nlri.nlri.value : undefined
}
