// The UDP socket of a DNS server. node:dgram waits for datagrams and reads the first of each turn of the event loop; where the socket calls
// of node:ffi work, the others that wait are read and answered in batches: half of the processor time of one callback for each, or less (decision 162).
import { createSocket, type Socket as DgramSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { plainAddress } from '../../runtime/client-address.ts'
import { formatWords, type Words } from '../datagram/address-words.ts'
import { findSocketCalls, type SocketCalls } from '../datagram/find-socket-calls.ts'
import type { BoundSocket } from '../datagram/socket-calls.ts'
import type { RequestHandler } from './handler.ts'
import { ResponseRateLimit, type ResponseRate } from './response-rate-limit.ts'

export type UdpOptions = {
  readonly host: string
  readonly port: number
  readonly handler: RequestHandler
  readonly rate: ResponseRate
  readonly reusePort?: boolean
  readonly onError?: (error: unknown) => void
}

/** Receive buffer in octets: a burst of questions waits while a large zone is being changed. */
const receiveBufferBytes = 4 * 1024 * 1024

/** Batches in one turn of the event loop: other work waits for at most this many. */
const roundsMax = 4

/** Binds the socket and answers its datagrams. Rejects if the port is taken. */
export async function bindUdp(options: UdpOptions): Promise<DgramSocket> {
  const { host, port, reusePort = false, onError = () => {} } = options
  const answer = createAnswer(options)
  const type = isIPv6(host) ? 'udp6' : 'udp4'
  const calls = host.includes('%') ? undefined : await findSocketCalls()
  const opened = calls && open(calls, options)
  const socket = createSocket(opened ? { type } : { type, reusePort, recvBufferSize: receiveBufferBytes })
  const drain = calls && opened ? createDrain(calls, opened, answer, socket) : ignore
  socket.on('message', (wire, { address, port }) => {
    // Not a Buffer, because its `slice` shares the octets.
    const octets = new Uint8Array(wire.buffer, wire.byteOffset, wire.length)
    answer(octets, plainAddress(address), (reply) => socket.send(reply, port, address, ignore))
    try {
      drain()
    } catch (error) {
      onError(error)
    }
  })
  // With a descriptor it listens at once.
  const listening = once(socket, 'listening')
  socket.bind(opened ? { fd: opened.fd } : { address: host, port })
  try {
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  // An unreachable client must not end the socket.
  socket.on('error', onError)
  return socket
}

/** Without it node:dgram binds the socket, and its error names the problem. */
function open(
  { openSocket }: SocketCalls,
  { host, port, reusePort = false }: UdpOptions,
): BoundSocket | undefined {
  try {
    return openSocket({ address: host, port }, { receiveBufferBytes, reusePort })
  } catch {
    return undefined
  }
}

const ignore = (): void => {}

type Send = (reply: Uint8Array) => void

/** Answers a datagram: at once, later, or not at all. */
type Answer = (wire: Uint8Array, address: string, send: Send) => void

function createAnswer({ handler, rate, onError = () => {} }: UdpOptions): Answer {
  const limit = new ResponseRateLimit(rate)
  return (wire, address, send) => {
    try {
      const verdict = limit.take(address, performance.now())
      if (verdict === 'drop') return
      const request = { wire, address, transport: 'udp' as const }
      const reply = verdict === 'truncate' ? handler.truncated(request) : handler.handleDatagram(request)
      if (reply instanceof Promise) reply.then((later) => later && send(later)).catch(onError)
      else if (reply) send(reply)
    } catch (error) {
      onError(error)
    }
  }
}

/** Returns a function that answers the datagrams that wait. */
function createDrain(
  { createExchange, datagramsMax }: SocketCalls,
  opened: BoundSocket,
  answer: Answer,
  socket: DgramSocket,
): () => void {
  const { batch, receive, reply, send } = createExchange()
  const { octets, offsets, lengths, senders, ports } = batch
  const addressOf = createAddressCache()

  function answerOne(i: number): void {
    const [offset, port] = [offsets[i]!, ports[i]!]
    const address = addressOf(senders, i * 4)
    // A socket of IPv6 sends to mapped addresses of IPv4.
    const target = opened.address.includes(':') && !address.includes(':') ? `::ffff:${address}` : address
    let isLate = false
    answer(octets.slice(offset, offset + lengths[i]!), address, (wire) => {
      if (isLate || !reply(i, wire)) socket.send(wire, port, target, ignore)
    })
    isLate = true
  }

  // node:dgram reads up to 32 datagrams in a turn of the event loop, and calls this after each.
  let rounds = 0
  return () => {
    while (rounds < roundsMax) {
      const count = receive(opened)
      if (count === 0) return
      if (rounds++ === 0) setImmediate(() => (rounds = 0))
      for (let i = 0; i < count; i++) answerOne(i)
      send(opened)
      if (count < datagramsMax) return
    }
  }
}

/** The text of a sender, by its words. Forged senders cannot fill it: it begins again at its limit. */
function createAddressCache(): (words: Uint32Array, at: number) => string {
  const known = new Map<number, string>()
  return (words, at) => {
    const isV4 = words[at + 2] === 0xff_ff && words[at] === 0 && words[at + 1] === 0
    const found = isV4 ? known.get(words[at + 3]!) : undefined
    if (found !== undefined) return found
    const text = formatWords(words.subarray(at, at + 4) as unknown as Words)
    if (!isV4) return text
    if (known.size >= 10_000) known.clear()
    known.set(words[at + 3]!, text)
    return text
  }
}
