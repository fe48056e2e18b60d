// Sends one question to one server: UDP with repetitions, TCP if the answer is truncated, TSIG with a key. An answer
// with another id, source or question is dropped, since it may be forged.
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { randomInt } from 'node:crypto'
import { connect, isIPv6, type Socket } from 'node:net'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import {
  MessageError,
  decodeMessage,
  emptyMessage,
  headerLength,
  rcode,
  type Message,
} from '../../net/dns/message.ts'
import { TsigError, TsigVerifier, signRequest, type TsigKey } from '../../net/dns/tsig.ts'
import { DriverError } from '../../runtime/driver-error.ts'

export type DnsTarget = {
  readonly address: string
  readonly port: number
  readonly key?: TsigKey | undefined
  /** For a whole question, repetitions included. */
  readonly timeoutMs: number
}

export type DnsQuery = Partial<Message> & Pick<Message, 'questions'>

/** A query as sent, with the values that its answers must match. */
export type SentQuery = {
  readonly wire: Uint8Array
  readonly message: Message
  /** Verifies the answers in their order; undefined without a key. */
  readonly createVerifier: () => TsigVerifier | undefined
}

const nowSeconds = (): number => Date.now() / 1000

/** Encodes and signs a query under a random id. */
export function prepareQuery(query: DnsQuery, key: TsigKey | undefined, id = randomInt(65_536)): SentQuery {
  const message = { ...emptyMessage, ...query, id }
  const plain = encodeMessage(message)
  if (!key) return { wire: plain, message, createVerifier: () => undefined }
  const { wire, mac } = signRequest(plain, key, nowSeconds())
  return { wire, message, createVerifier: () => new TsigVerifier({ key, mac }) }
}

/** Returns the message if it answers the query; undefined if it is to be dropped. Throws TsigError. */
export function matchAnswer(
  wire: Uint8Array,
  { message: query }: SentQuery,
  verifier: TsigVerifier | undefined,
): Message | undefined {
  if (wire.length < headerLength) return undefined
  let answer: Message
  try {
    answer = decodeMessage(wire)
  } catch (error) {
    if (error instanceof MessageError) return undefined
    throw error
  }
  const { id, qr, opcode, questions } = answer
  if (id !== query.id || !qr || opcode !== query.opcode) return undefined
  const [asked] = query.questions
  const [repeated] = questions
  // A server that cannot parse the question may omit it; later messages of a transfer have no question.
  const isSame = repeated
    ? repeated.name === asked?.name && repeated.type === asked.type && repeated.class === asked.class
    : true
  if (!isSame) return undefined
  // A server that does not know the zone or the key may refuse without a signature. That is a refusal whoever sent it.
  const isUnsignedRefusal = answer.rcode !== rcode.NOERROR && !answer.tsig
  if (!isUnsignedRefusal) verifier?.verify(wire, answer, nowSeconds())
  return answer
}

/** When the question is repeated over UDP. */
const repeatMs = [400, 1_000, 2_000]

/** Returns the answer over UDP, or over TCP if it is truncated. Throws DriverError. */
export async function exchange(
  target: DnsTarget,
  query: DnsQuery,
  options: { readonly tcp?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Message> {
  const began = performance.now()
  if (!options.tcp) {
    const answer = await exchangeUdp(target, prepareQuery(query, target.key), options.signal)
    if (!answer.tc) return answer
  }
  const timeoutMs = Math.max(1, target.timeoutMs - (performance.now() - began))
  for await (const { message } of receiveMessages({ ...target, timeoutMs }, query, options.signal))
    return message
  throw unreachable(target, 'the connection was closed without an answer')
}

function exchangeUdp(target: DnsTarget, sent: SentQuery, signal: AbortSignal | undefined): Promise<Message> {
  const { promise, resolve, reject } = Promise.withResolvers<Message>()
  const socket = createSocket(isIPv6(target.address) ? 'udp6' : 'udp4')
  const fail = (error: unknown): void => reject(asFailure(target, error))
  const timers = repeatMs
    .filter((ms) => ms < target.timeoutMs)
    .map((ms) => setTimeout(() => socket.send(sent.wire, ignore), ms))
  timers.push(setTimeout(() => fail(new Error('no answer in time')), target.timeoutMs))
  const onAbort = (): void => fail(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  socket.on('error', fail)
  socket.on('message', (octets) => {
    try {
      const answer = matchAnswer(plainOctets(octets), sent, sent.createVerifier())
      if (answer) resolve(answer)
    } catch (error) {
      // A forged answer must not end the question: the right one may follow. The server's own refusal ends it.
      if (!(error instanceof TsigError) || error.reason === 'BADSIG') return
      fail(error)
    }
  })
  // A connected socket takes answers from this address and port only.
  socket.connect(target.port, target.address, (error?: Error) => {
    if (error) fail(error)
    else socket.send(sent.wire, ignore)
  })
  return promise.finally(() => {
    for (const timer of timers) clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    closeQuietly(socket)
  })
}

const ignore = (): void => {}

function closeQuietly(socket: UdpSocket): void {
  try {
    socket.close()
  } catch {
    // The socket was closed by an error.
  }
}

/** Not a Buffer, because its `slice` shares the octets. */
export const plainOctets = (octets: Buffer): Uint8Array =>
  new Uint8Array(octets.buffer, octets.byteOffset, octets.length)

/** `finish` throws DriverError unless a signature covers all messages so far. */
export type Received = { readonly message: Message; readonly finish: () => void }

function finish(target: DnsTarget, { rcode: code }: Message, verifier: TsigVerifier | undefined): void {
  try {
    if (code === rcode.NOERROR) verifier?.finish()
  } catch (error) {
    throw asFailure(target, error)
  }
}

/**
 * Yields the messages that answer a query over TCP until the consumer stops. Ends if the server closes the connection.
 * A server may sign only some messages of a transfer, so no message may be used before `finish` of the last one.
 * `timeoutMs` applies to each message. Throws DriverError.
 */
export async function* receiveMessages(
  target: DnsTarget,
  query: DnsQuery,
  signal?: AbortSignal,
): AsyncGenerator<Received, void> {
  const sent = prepareQuery(query, target.key)
  const verifier = sent.createVerifier()
  const socket = connect({ host: target.address, port: target.port, ...(signal && { signal }) })
  socket.setTimeout(target.timeoutMs, () => socket.destroy(new Error('no answer in time')))
  socket.setNoDelay(true)
  const frame = Buffer.alloc(2 + sent.wire.length)
  frame.writeUInt16BE(sent.wire.length)
  frame.set(sent.wire, 2)
  socket.write(frame)
  try {
    for await (const wire of readFrames(socket)) {
      const answer = matchAnswer(wire, sent, verifier)
      // Another service: for whoever named the server, as if it did not answer.
      if (!answer) throw unreachable(target, 'the answer does not match the question')
      yield { message: answer, finish: () => finish(target, answer, verifier) }
    }
  } catch (error) {
    throw asFailure(target, error)
  } finally {
    socket.destroy()
  }
}

async function* readFrames(socket: Socket): AsyncGenerator<Uint8Array> {
  let parts: Buffer[] = []
  let length = 0
  for await (const octets of socket as AsyncIterable<Buffer>) {
    parts.push(octets)
    length += octets.length
    if (length < 2) continue
    // Joined only if a message is complete: a large transfer comes in many small parts.
    let joined = parts.length > 1 ? Buffer.concat(parts) : octets
    while (joined.length >= 2 && joined.length >= 2 + joined.readUInt16BE(0)) {
      const end = 2 + joined.readUInt16BE(0)
      yield plainOctets(joined.subarray(2, end))
      joined = joined.subarray(end)
    }
    parts = joined.length > 0 ? [joined] : []
    length = joined.length
  }
}

export const unreachable = ({ address, port }: DnsTarget, why: string): DriverError =>
  new DriverError('unreachable', `${address} port ${port}: ${why}`)

function asFailure(target: DnsTarget, error: unknown): DriverError {
  if (error instanceof DriverError) return error
  if (error instanceof TsigError)
    return new DriverError('protocol', `${target.address}: the signature was not accepted: ${error.reason}`)
  return unreachable(target, error instanceof Error ? error.message : 'it was closed')
}

export const isRefusal = ({ rcode: code }: Message): boolean =>
  code === rcode.REFUSED || code === rcode.NOTAUTH || code === rcode.NXDOMAIN
