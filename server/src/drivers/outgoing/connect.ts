// Connects to a host chosen by a customer without reaching internal networks: every address of the name is checked before
// connecting, and the peer address of the socket before anything is written.
import { connect as connectSocket, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { hasPort, type PortList } from '../../net/port-list.ts'
import type { Prefix } from '../../net/prefix.ts'
import { isWithin, objectionToAddress } from '../../net/public-address.ts'
import type { HostResolver } from './resolve-host.ts'

export type Destination = { readonly host: string; readonly port: number; readonly isSecure: boolean }

export type ConnectOptions = {
  readonly resolver: HostResolver
  /** Non-public networks that are allowed as targets, also without TLS. */
  readonly allowed: readonly Prefix[]
  /** The ports of public addresses to which it connects; all by default. */
  readonly publicPorts?: PortList
  /** Trusted certificates that replace Node's. */
  readonly ca?: string
}

/** The target, or the form of its answer, is not allowed. The message is for the team and contains no address. */
export class NotAllowed extends Error {}

/** The target is in a network that is not public, and not allowed. */
export class NotPublic extends NotAllowed {}

/** Only the first addresses are tried, each for this long. */
const addressesMax = 3
const connectTimeoutMs = 5_000

/** Throws NotAllowed before anything is sent, and errors of node:net and node:tls. */
export async function connect(
  destination: Destination,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, isSecure } = destination
  const addresses = await options.resolver.resolve(host, signal)
  if (addresses.length === 0) throw new NotAllowed('the name has no address')
  for (const address of addresses) requireAllowed(address, destination, options)
  const socket = await connectToOne(addresses.slice(0, addressesMax), destination, options, signal)
  return isSecure ? await secure(socket, host, options.ca, signal) : socket
}

/** Throws NotAllowed for an address or a port to which nothing is sent. */
export function requireAllowed(
  address: string,
  { port, isSecure }: Pick<Destination, 'port' | 'isSecure'>,
  { allowed, publicPorts }: Pick<ConnectOptions, 'allowed' | 'publicPorts'>,
): void {
  if (isWithin(address, allowed)) return
  if (objectionToAddress(address) !== undefined)
    throw new NotPublic('the URL resolves to an address that is not public')
  if (!isSecure) throw new NotAllowed('nothing is sent to the public internet without TLS')
  if (publicPorts && !hasPort(publicPorts, port)) throw new NotAllowed('the provider does not allow the port')
}

/** Tries the addresses in order; rejects with the last error. */
async function connectToOne(
  addresses: readonly string[],
  destination: Destination,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown
  for (const address of addresses) {
    try {
      const socket = await open(address, destination.port, signal)
      try {
        requireAllowed(socket.remoteAddress ?? '', destination, options)
      } catch (error) {
        socket.destroy()
        throw error
      }
      return socket
    } catch (error) {
      if (error instanceof NotAllowed) throw error
      signal.throwIfAborted()
      last = error
    }
  }
  throw last
}

/** Connects to an address without resolving a name. */
function open(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectSocket({ host: address, port })
  return ready(socket, 'connect', AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]))
}

function secure(socket: Socket, host: string, ca: string | undefined, signal: AbortSignal): Promise<Socket> {
  const isName = !host.includes(':') && !/^[\d.]+$/.test(host)
  const tls = connectTls({
    socket,
    host,
    ...(isName ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['http/1.1'],
  })
  return ready(tls, 'secureConnect', signal)
}

function ready<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<S>()
  const giveUp = () => socket.destroy(signal.reason as Error)
  // The listener stays: later errors are reported by the reader.
  socket.on('error', reject)
  socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  socket.once(event, () => resolve(socket))
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  return promise.finally(() => signal.removeEventListener('abort', giveUp))
}
