// The sockets of a DNS server: UDP and TCP at one address and port. It frames, limits and disconnects; the handler
// interprets messages.
import type { Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIP, type AddressInfo, type Server, type Socket } from 'node:net'
import type { RequestHandler } from './handler.ts'
import type { ResponseRate } from './response-rate-limit.ts'
import { serveConnection, type TcpLimits } from './tcp-connection.ts'
import { bindUdp } from './udp.ts'
import { maskHostBits } from '../../net/prefix.ts'
import { plainAddress } from '../../runtime/client-address.ts'

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
      const udp = await bindUdp({ ...options, port, rate: limits.responseRate })
      return { port, close: () => closeBoth(tcp, udp) }
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve))
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (options.port !== 0 || !isTaken || attempt >= attemptsMax) throw error
    }
  }
}

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
