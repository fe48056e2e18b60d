// For tests: a server that handles the calls of the speaker like the published source of GoBGP 4.x, because Debian has
// no such daemon. Its table is the global one, keyed by family, prefix and path identifier. It must share only the
// octets of BGP with the speaker: acceptance and rejection are implemented separately here.
import { isDeepStrictEqual } from 'node:util'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import * as grpc from '@grpc/grpc-js'
import type { Family } from '../../net/bits.ts'
import { covers, type Prefix, parsePrefix } from '../../net/prefix.ts'
import { decodeNlri, encodeNlri } from './attributes.ts'
import {
  type AddPathStreamRequest,
  GoBgpService,
  type ListPathRequest,
  type Path,
  TableLookupPrefix_Type,
  TableType,
  type WatchEventRequest,
} from './generated/gobgp4_pb.js'
import { bytesMethod, listen, serviceOf } from './testing.ts'

export type FakeGobgp4 = {
  readonly address: string
  readonly port: number
  /** The received calls, by name. */
  readonly calls: readonly string[]
  /** Like `gobgp global rib add`: no path identifier, no communities. */
  addByHand(prefix: string): void
  /** Like `gobgp global rib add`, with a higher local preference and AS64510 as origin. */
  addBetter(prefix: string): void
  /** An export policy that rejects everything. */
  rejectExports(rejects: boolean): void
  /** The prefixes of all paths without a path identifier. */
  listByHand(): readonly string[]
  /** Like `gobgp global rib del all`. */
  clearByHand(): void
  /** The state of its only neighbor besides the restart gate. */
  readonly neighbor: { readonly address: string; readonly asn: number }
  setNeighbor(isUp: boolean): void
  disableNeighbor(): void
  /** Ends its session with these fields of PeerState. */
  endSession(state: object): void
  /** Delays the answers to changes; calling it with false applies the received ones. */
  delayChanges(isDelayed: boolean): void
  /** Ends all event streams and keeps the connections. */
  endEvents(): void
  /** Marks the paths in the table as received from a neighbor. */
  markAllLearned(neighbor: string): void
  /** Restarts with an empty table. */
  restart(): Promise<void>
  stop(): void
}

type Options = {
  /** False starts it without a configuration. */
  readonly configured?: boolean
  /** How an exact lookup is treated; 4.4.0 treats it as a lookup of longer prefixes. */
  readonly lookup?: 'exact' | 'longer'
  /** A daemon that supports the typed form of paths only. */
  readonly typedOnly?: boolean
  readonly port?: number
}

export async function startFakeGobgp4(options: Options = {}): Promise<FakeGobgp4> {
  const table = new Table()
  const calls: string[] = []
  const peers = new Peers()
  const createServer = () => serverOf(table, peers, calls, options)
  let server = createServer()
  const port = await listen(server, options.port ?? 0)
  return {
    address: `127.0.0.1:${port}`,
    port,
    calls,
    addByHand: (prefix) => put(table, pathByHand(parsePrefix(prefix))),
    addBetter: (prefix) => put(table, { ...pathByHand(parsePrefix(prefix), 64510), isPreferred: true }),
    rejectExports: (rejects) => (table.rejectsExports = rejects),
    listByHand: () => [...table.values()].filter(({ identifier }) => identifier === 0).map(prefixOf),
    clearByHand: () => [...table.values()].forEach((path) => remove(table, path)),
    neighbor,
    delayChanges: (isDelayed) => {
      for (const carryOut of table.delayed ?? []) carryOut()
      table.delayed = isDelayed ? [] : undefined
    },
    endEvents: () => table.endings.forEach((end) => end()),
    setNeighbor: (isUp) => peers.set(isUp ? 'up' : 'lost'),
    disableNeighbor: () => peers.set('disabled'),
    endSession: (state) => {
      peers.end = state
      peers.set('lost')
    },
    markAllLearned: (neighborIp) => table.forEach((path) => put(table, { ...path, neighborIp })),
    restart: async () => {
      server.forceShutdown()
      table.clear()
      server = createServer()
      await listen(server, port)
    },
    stop: () => server.forceShutdown(),
  }
}

/** A stored path. */
type Kept = Pick<Path, 'identifier' | 'nlriBinary' | 'pattrsBinary' | 'neighborIp'> & {
  readonly family: { readonly afi: number; readonly safi: number }
  readonly isPreferred?: boolean
}
type Callback = grpc.sendUnaryData<unknown>

/** The table and the streams that follow its best paths; here, every path counts as one. */
class Table extends Map<string, Kept> {
  readonly watchers = new Set<(paths: object[]) => void>()
  readonly endings = new Set<() => void>()
  delayed: (() => void)[] | undefined
  rejectsExports = false
}

const neighbor = { address: '192.0.2.254', asn: 64501 }
// PeerState.SessionState, PeerState.AdminState
/** PeerState.SessionState and PeerState.AdminState. */
const peerStates = {
  up: { sessionState: 6, adminState: 1 },
  lost: { sessionState: 3, adminState: 1 },
  disabled: { sessionState: 1, adminState: 2 },
} as const

/** The neighbor and the streams that follow it. */
class Peers {
  readonly watchers = new Set<(peer: object) => void>()
  #state: keyof typeof peerStates = 'up'
  end: object = {}

  set(state: keyof typeof peerStates): void {
    if (this.#state === state) return
    this.#state = state
    for (const watcher of this.watchers) watcher(this.one)
  }

  get one(): object {
    const families = [1, 2].map((afi) => ({ case: 'multiProtocol', value: { family: { afi, safi: 1 } } }))
    const offered = this.#state === 'up' ? [{ case: undefined }, ...families] : []
    return peerOf(
      neighbor,
      this.#state,
      offered.map((cap) => ({ cap })),
      this.#state === 'lost' ? this.end : {},
    )
  }

  get gate(): object {
    return peerOf({ address: '127.255.255.254', asn: 64500 }, 'lost', [])
  }
}

function peerOf(
  { address, asn }: typeof neighbor,
  state: keyof typeof peerStates,
  remoteCap: object[],
  end: object = {},
): object {
  const at = { seconds: BigInt(Math.floor(Date.now() / 1_000)), nanos: 0 }
  return {
    conf: { neighborAddress: address, peerAsn: asn },
    state: { neighborAddress: address, peerAsn: asn, ...peerStates[state], remoteCap, ...end },
    timers: { state: { uptime: at, downtime: at } },
    afiSafis: [1, 2].map((afi) => ({ config: { family: { afi, safi: 1 } } })),
  }
}

function serverOf(table: Table, peers: Peers, calls: string[], options: Options): grpc.Server {
  const server = new grpc.Server()
  const isConfigured = options.configured ?? true
  server.addService(serviceOf(GoBgpService), {
    getBgp: (_: unknown, callback: Callback) => {
      calls.push('GetBgp')
      const global = isConfigured ? { asn: 64500, routerId: '192.0.2.1' } : { asn: 0, routerId: 'invalid IP' }
      callback(null, { global })
    },
    addPathStream: (call: grpc.ServerReadableStream<AddPathStreamRequest, unknown>, callback: Callback) => {
      calls.push('AddPathStream')
      let refusal: string | undefined
      call.on('data', (message: AddPathStreamRequest) => {
        if (refusal !== undefined) return
        if (table.delayed) {
          table.delayed.push(() => applyChange(table, message))
          return
        }
        refusal = isConfigured ? applyChange(table, message) : notStarted
        if (refusal !== undefined) callback({ code: grpc.status.UNKNOWN, details: refusal })
      })
      call.on('end', () => refusal === undefined && !table.delayed && callback(null, {}))
    },
    listPath: (call: grpc.ServerWritableStream<ListPathRequest, unknown>) => {
      calls.push('ListPath')
      const refusal = isConfigured ? refusalOf(call.request) : notStarted
      if (refusal !== undefined) {
        call.emit('error', { code: grpc.status.UNKNOWN, details: refusal })
        return
      }
      for (const paths of destinations(table, call.request, options)) call.write({ destination: { paths } })
      call.end()
    },
    listPeer: (call: grpc.ServerWritableStream<unknown, unknown>) => {
      calls.push('ListPeer')
      for (const peer of isConfigured ? [peers.gate, peers.one] : []) call.write({ peer })
      call.end()
    },
    watchEvent: (call: grpc.ServerWritableStream<WatchEventRequest, unknown>) => {
      calls.push('WatchEvent')
      follow(table, peers, call)
    },
  })
  server.addService({ clear: bytesMethod('/api.GoBgpService/DeletePath') }, deletion(table, calls))
  return server
}

// WatchEventRequest.Table.Filter.Type, WatchEventResponse.PeerEvent.Type
const bestPaths = 1
const peerEvent = { initial: 1, endOfInitial: 2, state: 3 } as const

function follow(
  table: Table,
  peers: Peers,
  call: grpc.ServerWritableStream<WatchEventRequest, unknown>,
): void {
  const filters = call.request.table?.filters ?? []
  if (filters.some(({ type }) => type !== bestPaths)) {
    call.emit('error', { code: grpc.status.INVALID_ARGUMENT, details: 'unknown filter type' })
    return
  }
  const sendPeerEvent = (type: number, peer: object) =>
    call.write({ event: { case: 'peer', value: { type, peer } } })
  const onPeer = (peer: object): unknown => sendPeerEvent(peerEvent.state, peer)
  const onPaths = (paths: object[]): unknown => call.write({ event: { case: 'table', value: { paths } } })
  for (const peer of [peers.gate, peers.one]) sendPeerEvent(peerEvent.initial, peer)
  sendPeerEvent(peerEvent.endOfInitial, {})
  peers.watchers.add(onPeer)
  if (filters.length > 0) table.watchers.add(onPaths)
  const end = (): unknown => call.end()
  table.endings.add(end)
  call.on('close', () => {
    table.endings.delete(end)
    peers.watchers.delete(onPeer)
    table.watchers.delete(onPaths)
  })
}

const notStarted = "bgp server hasn't started yet"

/** The call that the speaker must never use: with neither a path (field 4) nor a UUID (5) it withdraws everything. */
function deletion(table: Table, calls: string[]): grpc.UntypedServiceImplementation {
  return {
    clear: ({ request }: { request: Buffer }, callback: grpc.sendUnaryData<Buffer>) => {
      calls.push('DeletePath')
      const fields: number[] = []
      for (const reader = new BinaryReader(request); reader.pos < reader.len;) {
        const [field, wireType] = reader.tag()
        fields.push(field)
        reader.skip(wireType, field)
      }
      if (!fields.includes(4) && !fields.includes(5)) table.clear()
      callback(null, Buffer.alloc(0))
    },
  }
}

/** Accepts all paths of the message, or rejects all and returns the reason. */
function applyChange(table: Table, { tableType, paths }: AddPathStreamRequest): string | undefined {
  if (tableType !== TableType.GLOBAL) return `unsupported resource: ${tableType}`
  for (const path of paths) {
    const refusal = refusalOfPath(path)
    if (refusal !== undefined) return refusal
  }
  for (const path of paths) {
    const kept = { ...path, neighborIp: '', family: path.family!, pattrsBinary: reordered(path.pattrsBinary) }
    if (path.isWithdraw) remove(table, kept)
    else put(table, kept)
  }
  return undefined
}

const attributeType = { origin: 1, asPath: 2, nextHop: 3, mpReach: 14 } as const

function refusalOfPath({ family, nlriBinary, pattrsBinary, isWithdraw }: Path): string | undefined {
  if (!family) return 'family cannot be nil'
  if (family.safi !== 1 || (family.afi !== 1 && family.afi !== 2)) return 'unsupported address family'
  try {
    decodeNlri(nlriBinary, familyOf(family.afi))
  } catch (error) {
    return (error as Error).message
  }
  const types = pattrsBinary.map(typeOf)
  const twice = types.find((type, at) => types.indexOf(type) !== at)
  if (twice !== undefined) return `duplicated path attribute type: ${twice}`
  if (isWithdraw) return undefined
  if (!types.some(isNextHop)) return 'nexthop not found'
  return types.includes(attributeType.origin) ? undefined : 'no origin path attr'
}

/** Moves the next hop behind the other attributes. */
function reordered(attributes: readonly Uint8Array[]): Uint8Array[] {
  const { false: others = [], true: nextHops = [] } = Object.groupBy(attributes, (attribute) =>
    isNextHop(typeOf(attribute)) ? 'true' : 'false',
  )
  return [...others, ...nextHops]
}

function typeOf(attribute: Uint8Array): number {
  return attribute[1] ?? 0
}

function isNextHop(type: number): boolean {
  return type === attributeType.nextHop || type === attributeType.mpReach
}

function refusalOf({ tableType, family, prefixes, name }: ListPathRequest): string | undefined {
  if (tableType === TableType.UNSPECIFIED) return 'unspecified table type'
  if (tableType === TableType.ADJ_OUT && name !== neighbor.address)
    return `neighbor that has ${name} doesn't exist`
  if (!family) return 'address family: unknown not supported'
  // A lookup without a type is undocumented, so it must not be used.
  return prefixes.every(({ type }) => type === TableLookupPrefix_Type.EXACT)
    ? undefined
    : 'unspecified lookup'
}

/** Returns the paths of each prefix in the form of an answer. */
function destinations(table: Table, request: ListPathRequest, options: Options): object[][] {
  const isBinary = request.enableOnlyBinary && !options.typedOnly
  const ofFamily = [...table.values()].filter(({ family }) => family.afi === request.family?.afi)
  const selected = ofFamily.filter((path) => isSelected(prefixOf(path), request, options))
  return [...Map.groupBy(selected, prefixOf).values()]
    .map((paths) => paths.toSorted((a, b) => Number(b.isPreferred ?? 0) - Number(a.isPreferred ?? 0)))
    .map((paths) => (request.tableType === TableType.ADJ_OUT ? exported(table, paths) : paths))
    .filter((paths) => paths.length > 0)
    .map((paths) =>
      paths.map((path) => (isBinary ? path : { ...path, nlriBinary: new Uint8Array(), pattrsBinary: [] })),
    )
}

/** The best path as the external neighbor receives it: with the daemon's own ASN in front of its path. */
function exported({ rejectsExports }: Table, [best]: readonly Kept[]): Kept[] {
  if (!best || rejectsExports) return []
  const { false: others = [], true: asPaths = [] } = Object.groupBy(best.pattrsBinary, (attribute) =>
    typeOf(attribute) === attributeType.asPath ? 'true' : 'false',
  )
  const asns = asPaths.flatMap((attribute) => [...attribute.subarray(5)])
  return [{ ...best, pattrsBinary: [...others, asPathOf([...asnOctets(64500), ...asns])] }]
}

/** Four octets each. */
function asPathOf(octets: readonly number[]): Uint8Array {
  return Uint8Array.of(0x40, attributeType.asPath, octets.length + 2, 2, octets.length / 4, ...octets)
}

function asnOctets(asn: number): number[] {
  return [asn >>> 24, (asn >>> 16) & 255, (asn >>> 8) & 255, asn & 255]
}

function isSelected(prefix: Prefix, { prefixes }: ListPathRequest, { lookup }: Options): boolean {
  if (prefixes.length === 0) return true
  return prefixes.some((asked) =>
    lookup === 'longer' ? covers(parsePrefix(asked.prefix), prefix) : asked.prefix === prefix,
  )
}

function put(table: Table, path: Kept): void {
  const before = table.get(keyOf(path))
  table.set(keyOf(path), path)
  const isSame = before && isDeepStrictEqual(before.pattrsBinary, path.pattrsBinary)
  report(table, isSame ? [] : [typed(path, false)])
}

function remove(table: Table, path: Kept): void {
  report(table, table.delete(keyOf(path)) ? [typed(path, true)] : [])
}

/** An empty list if the best path did not change. */
function report(table: Table, paths: object[]): void {
  for (const watcher of table.watchers) watcher(paths)
}

/** The typed form of an event: never octets. */
function typed(path: Kept, isWithdraw: boolean): object {
  const [prefix, length] = prefixOf(path).split('/')
  const { family, identifier, neighborIp } = path
  const nlri = { nlri: { case: 'prefix', value: { prefix, prefixLen: Number(length) } } }
  return { family, identifier, neighborIp, isWithdraw, nlri }
}

function keyOf({ family, nlriBinary, identifier }: Kept): string {
  return `${family.afi} ${Buffer.from(nlriBinary).toString('hex')} ${identifier}`
}

function prefixOf({ family, nlriBinary }: Kept): Prefix {
  return decodeNlri(nlriBinary, familyOf(family.afi))
}

function familyOf(afi: number): Family {
  return afi === 1 ? 4 : 6
}

function pathByHand(prefix: Prefix, originAsn?: number): Kept {
  const afi = prefix.includes(':') ? 2 : 1
  const origin = Uint8Array.of(0x40, attributeType.origin, 1, 2)
  const nextHop = Uint8Array.of(0x40, attributeType.nextHop, 4, 0, 0, 0, 0)
  const family = { afi, safi: 1 }
  return {
    family,
    identifier: 0,
    neighborIp: '',
    nlriBinary: encodeNlri(prefix),
    pattrsBinary: [origin, ...(originAsn ? [asPathOf(asnOctets(originAsn))] : []), nextHop],
  }
}
