// GoBGP 3.x: the dialect of Debian's package, which the tests use with a real daemon.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import type { GobgpPath } from './codec.ts'
import type { Dialect } from './dialect.ts'
import { readEvent } from './events.ts'
import {
  AddPathStreamRequestSchema,
  GetBgpRequestSchema,
  GobgpApi,
  IPAddressPrefixSchema,
  ListPathRequestSchema,
  ListPeerRequestSchema,
  MultiProtocolCapabilitySchema,
  type Path as EventPath,
  type Peer,
  TableType,
  WatchEventRequestSchema,
  type WatchEventResponse,
} from './generated/gobgp_pb.js'
import { neighborOf, type CountedNeighbor } from './neighbors.ts'

const { getBgp, listPath, addPathStream, listPeer, watchEvent } = GobgpApi.method

/** PeerState.AdminState: DOWN, PFX_CT */
const adminStates = { down: 1, prefixLimit: 2 }
/** WatchEventRequest.Table.Filter.Type.BEST */
const bestPaths = 0

export const gobgp3: Dialect = {
  version: '3.x',
  change: addPathStream,
  globalTable: undefined,
  flowspecNextHop: [],

  encodeChange: (paths) =>
    toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { paths })),
  decodeChange: (octets) => fromBinary(AddPathStreamRequestSchema, octets),

  async getGlobal(client, deadline) {
    const { global } = await client.unary(getBgp, create(GetBgpRequestSchema), deadline)
    return global
  },

  async listPaths(client, { family, prefixes, neighbor: name }, deadline) {
    const lookups = prefixes.map((prefix) => ({ prefix }))
    const table = name === undefined ? {} : { tableType: TableType.ADJ_OUT, name }
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
  const offered = capabilities.map((any) => anyUnpack(any, MultiProtocolCapabilitySchema)?.family)
  return neighborOf(
    peer,
    adminStates,
    offered.filter((family) => family !== undefined),
  )
}

function readPrefix({ nlri }: Pick<EventPath, 'nlri'>) {
  return nlri && anyUnpack(nlri, IPAddressPrefixSchema)
}
