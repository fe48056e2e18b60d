// The sockets of a DNS server: UDP and TCP at one address and port. It frames, limits and disconnects; the handler
// interprets messages.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIP, isIPv6, type AddressInfo, type Server, type Socket, isIPv4 } from 'node:net'
import type { RequestHandler } from './handler.ts'
import { serveConnection, type TcpLimits } from './tcp-connection.ts'
import { maskHostBits } from '../../net/prefix.ts'
import { plainAddress } from '../../runtime/client-address.ts'
import { readAddress } from '../../net/address.ts'

export type ListenerLimits = TcpLimits & {
  readonly connections: number
  /** Limit per IPv4 address or /64 of IPv6. */
  readonly connectionsPerAddress: number
  /** Limit per /24 or /48 around it, so that one network cannot use all connections. */
  readonly connectionsPerNetwork: number
  readonly responseRate: ResponseRate
}

const listenerLimits: ListenerLimits = {
  idleMs: 10_000,
  messageMs: 5_000,
  writeMs: 30_000,
  waiting: 32,
  connections: 1_000,
  connectionsPerAddress: 100,
  connectionsPerNetwork: 250,
  responseRate: { perSecond: 1_000, burst: 5_000 },
}

export type ListenerOptions = {
  readonly host: string
  /** 0 selects a port that is free for both. */
  readonly port: number
  readonly handler: RequestHandler
  readonly limits?: Partial<ListenerLimits>
  /** Several processes may listen on one port; the kernel distributes the requests. */
  readonly reusePort?: boolean
  readonly onError?: (error: unknown) => void
}

export type DnsListener = { readonly port: number; close(): Promise<void> }

/** Receive buffer of UDP in octets: a burst of questions waits while a large zone is being changed. */
const receiveBuffer = 4 * 1024 * 1024

/** Attempts to find a port that is free for UDP and TCP. */
const attemptsMax = 20

/** Listens; rejects if the port is taken. */
export async function startListener(options: ListenerOptions): Promise<DnsListener> {
  const limits = { ...listenerLimits, ...options.limits }
  for (let attempt = 1; ; attempt++) {
    const tcp = createTcpServer(options, limits)
    tcp.listen({ host: options.host, port: options.port, reusePort: options.reusePort ?? false })
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    try {
      const udp = await bindUdp({ ...options, port }, limits)
      return { port, close: () => closeBoth(tcp, udp) }
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve))
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (options.port !== 0 || !isTaken || attempt >= attemptsMax) throw error
    }
  }
}

async function bindUdp(options: ListenerOptions, limits: ListenerLimits): Promise<UdpSocket> {
  const { host, port, handler, reusePort = false, onError = () => {} } = options
  const socket = createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    reusePort,
    recvBufferSize: receiveBuffer,
  })
  const rate = new ResponseRateLimit(limits.responseRate)
  const receive = (wire: Buffer, from: RemoteInfo): void => {
    const { port } = from
    const address = plainAddress(from.address)
    const verdict = rate.take(address, performance.now())
    if (verdict === 'drop') return
    // Not a Buffer, because its `slice` shares the octets.
    const octets = new Uint8Array(wire.buffer, wire.byteOffset, wire.length)
    const request = { wire: octets, address, transport: 'udp' as const }
    const send = (reply: Uint8Array | undefined): void => {
      if (reply) socket.send(reply, port, from.address, ignore)
    }
    if (verdict === 'truncate') return send(handler.truncated(request))
    const reply = handler.handleDatagram(request)
    if (reply instanceof Promise) reply.then(send).catch(onError)
    else send(reply)
  }
  socket.on('message', (wire, from) => {
    try {
      receive(wire, from)
    } catch (error) {
      onError(error)
    }
  })
  socket.bind({ address: host, port })
  try {
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  // An unreachable client must not end the socket.
  socket.on('error', onError)
  return socket
}

const ignore = (): void => {}

function createTcpServer({ handler, onError = () => {} }: ListenerOptions, limits: ListenerLimits): Server {
  const addresses = createCounts()
  const networks = createCounts()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    const source = connectionSourceOf(address)
    const ofAddress = addresses.add(source.client, 1)
    const ofNetwork = networks.add(source.network, 1)
    socket.once('close', () => {
      addresses.add(source.client, -1)
      networks.add(source.network, -1)
    })
    const isOver = ofAddress > limits.connectionsPerAddress || ofNetwork > limits.connectionsPerNetwork
    socket.on('error', () => socket.destroy())
    if (isOver) return void socket.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    serveConnection(socket, limits, (wire) => {
      try {
        return handler.handleStream({ wire, address, transport: 'tcp' })
      } catch (error) {
        onError(error)
        return undefined
      }
    })
  })
  const open = openSockets(server)
  server.maxConnections = limits.connections
  return server
}

function createCounts() {
  const counts = new Map<string, number>()
  return {
    /** Returns the new count. */
    add(key: string, by: number): number {
      const now = (counts.get(key) ?? 0) + by
      if (now > 0) counts.set(key, now)
      else counts.delete(key)
      return now
    },
  }
}

type ConnectionSource = { readonly client: string; readonly network: string }

/** One client of IPv6 has the addresses of a /64, and a site a /48. Others on the machine are one network each. */
export function connectionSourceOf(address: string): ConnectionSource {
  if (address.startsWith('127.') || !isIP(address)) return { client: address, network: address }
  const [client, network] = address.includes(':') ? [64, 48] : [32, 24]
  return { client: maskHostBits(`${address}/${client}`), network: maskHostBits(`${address}/${network}`) }
}

const sockets = new WeakMap<Server, Set<Socket>>()

function openSockets(server: Server): Set<Socket> {
  const open = new Set<Socket>()
  sockets.set(server, open)
  return open
}

async function closeBoth(tcp: Server, udp: UdpSocket): Promise<void> {
  const closed = new Promise<void>((resolve) => tcp.close(() => resolve()))
  for (const socket of sockets.get(tcp) ?? []) socket.destroy()
  await Promise.all([closed, new Promise<void>((resolve) => udp.close(() => resolve()))])
}

type ResponseRate = { readonly perSecond: number; readonly burst: number }

type RateVerdict = 'answer' | 'truncate' | 'drop'

const networksMax = 100_000

type Bucket = { tokens: number; at: number; limited: number }

/**
 * Limits answers over UDP to each network, because the source address of a datagram may be forged: the victim of a reflection gets a bounded
 * number of answers, every second of them truncated, and a real client repeats its question over TCP.
 */
export class ResponseRateLimit {
  readonly #rate: ResponseRate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: ResponseRate) {
    this.#rate = rate
  }

  /** Takes one answer to an address. `nowMs` is of a monotonic clock. Loopback is never limited. */
  take(address: string, nowMs: number): RateVerdict {
    if (address.startsWith('127.') || address === '::1') return 'answer'
    const network = networkOf(address)
    const bucket = this.#buckets.get(network) ?? this.#add(network, nowMs)
    const { perSecond, burst } = this.#rate
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.at) / 1000) * perSecond)
    bucket.at = nowMs
    if (bucket.tokens < 1) return ++bucket.limited % 2 === 0 ? 'truncate' : 'drop'
    bucket.tokens -= 1
    return 'answer'
  }

  /** The oldest entry makes room: a flood of forged addresses must not fill the memory. */
  #add(network: string, at: number): Bucket {
    if (this.#buckets.size >= networksMax) {
      const { value } = this.#buckets.keys().next()
      if (value !== undefined) this.#buckets.delete(value)
    }
    const bucket = { tokens: this.#rate.burst, at, limited: 0 }
    this.#buckets.set(network, bucket)
    return bucket
  }
}

/** A /24 of IPv4 and a /56 of IPv6: the networks that response rate limits of other servers use. */
function networkOf(address: string): string {
  if (isIPv4(address)) return address.slice(0, address.lastIndexOf('.'))
  if (!isIPv6(address)) return address
  const { w0, w1 } = readAddress(address, address.length)
  return `${w0}:${w1 >>> 8}`
}
