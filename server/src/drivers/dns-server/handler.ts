// Decides the kind of a message and the permission of its sender: questions, transfers, NOTIFY and UPDATE, each with
// TSIG if the request has it. An answer to a signed request is signed, the SOA over UDP too: BIND drops an unsigned one
// and then never transfers.
import type { RequestPeer, TransferView, ZoneSource } from '../../dns/answer/zone-source.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import {
  MessageError,
  decodeHeader,
  decodeMessage,
  emptyMessage,
  headerLength,
  messageLengthMax,
  opcode,
  plainUdpLengthMax,
  rcode,
  udpLengthMax,
  type Message,
} from '../../net/dns/message.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { recordsOf } from '../../net/dns/record.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import { TsigError, TsigSigner, signErrorAnswer, verifyRequest, type TsigKey } from '../../net/dns/tsig.ts'
import { recordType } from '../../net/dns/type.ts'
import { axfrMessages, ixfrMessages } from './transfer.ts'

export type HandlerDeps = {
  readonly zones: ZoneSource
  /** Answers a question without TSIG, within the size that the client takes. */
  readonly answer: (query: Message, transport: 'udp' | 'tcp') => Uint8Array
  /** Answers to datagrams without TSIG by their octets; none if absent. */
  readonly repeated?: {
    find(wire: Uint8Array): Uint8Array | undefined
    keep(wire: Uint8Array, query: Message, answer: Uint8Array): void
  }
  readonly findKey: (name: DomainName) => TsigKey | undefined
  /** Returns the view that the peer may transfer; undefined if it has no access. */
  readonly transferView: (zone: ZoneName, peer: RequestPeer) => TransferView | undefined
  /** Takes a NOTIFY for a zone; returns the RCODE of the answer. */
  readonly notified: (zone: ZoneName, peer: RequestPeer, serial: Serial | undefined) => number
  /** Applies an UPDATE (RFC 2136); returns the RCODE. Without it UPDATE is not implemented. */
  readonly update?: (message: Message, peer: RequestPeer) => Promise<number>
  /** Unix time in seconds. */
  readonly now: () => number
}

export type DnsRequest = {
  readonly wire: Uint8Array
  readonly address: string
  readonly transport: 'udp' | 'tcp'
}

type Reply = Uint8Array | undefined
type StreamReply = Reply | Promise<Reply> | AsyncIterable<Uint8Array>

export interface RequestHandler {
  handleDatagram(request: DnsRequest): Reply | Promise<Reply>
  handleStream(request: DnsRequest): StreamReply
  /** Returns an empty truncated answer, so that the client repeats its question over TCP. */
  truncated(request: DnsRequest): Reply
}

/** A request with its signature verified. */
type Checked = {
  readonly query: Message
  readonly peer: RequestPeer
  readonly transport: 'udp' | 'tcp'
  readonly signer: TsigSigner | undefined
}

export function createHandler(deps: HandlerDeps): RequestHandler {
  const handleStream = (request: DnsRequest): StreamReply => {
    const checked = check(request, deps)
    return checked instanceof Uint8Array || checked === undefined ? checked : dispatch(checked, deps)
  }
  return {
    handleStream,
    handleDatagram: (request) => deps.repeated?.find(request.wire) ?? answerDatagram(request, deps),
    truncated: ({ wire }) => (isQuery(wire) ? headerAnswer(wire, { tc: true }) : undefined),
  }
}

function answerDatagram(request: DnsRequest, deps: HandlerDeps): Reply | Promise<Reply> {
  const checked = check(request, deps)
  if (checked instanceof Uint8Array || checked === undefined) return checked
  // Transfers are refused over UDP, so that no reply is a stream.
  const reply = dispatch(checked, deps) as Reply | Promise<Reply>
  if (reply instanceof Uint8Array && !checked.signer) deps.repeated?.keep(request.wire, checked.query, reply)
  return reply
}

/** Responses are never answered: two servers would answer each other for ever. */
const isQuery = (wire: Uint8Array): boolean => wire.length >= headerLength && (wire[2]! & 0x80) === 0

/** Returns the request, the answer that refuses it, or undefined to send no answer. */
function check({ wire, address, transport }: DnsRequest, { findKey, now }: HandlerDeps): Checked | Reply {
  if (!isQuery(wire)) return undefined
  let query: Message | undefined
  try {
    query = decodeMessage(wire)
    const verified = verifyRequest(wire, query, findKey, now())
    const signer = verified && new TsigSigner(verified)
    return { query, peer: { address, key: verified?.key.name }, transport, signer }
  } catch (error) {
    if (error instanceof MessageError) return headerAnswer(wire, { rcode: rcode.FORMERR })
    if (!(error instanceof TsigError) || !query) throw error
    return signErrorAnswer(encodeMessage(answerTo(query, { rcode: rcode.NOTAUTH })), error, now())
  }
}

function headerAnswer(wire: Uint8Array, parts: Partial<Message>): Uint8Array {
  const { id, opcode, rd } = decodeHeader(wire)
  return encodeMessage({ ...emptyMessage, id, opcode, rd, qr: true, ...parts })
}

function answerTo({ id, opcode, rd, questions, edns }: Message, parts: Partial<Message>): Message {
  const answer = { ...emptyMessage, id, opcode, rd, qr: true, questions, ...parts }
  return edns ? { ...answer, edns: { ...edns, udpSize: udpLengthMax, version: 0, options: [] } } : answer
}

function dispatch(checked: Checked, deps: HandlerDeps): StreamReply {
  const { query } = checked
  const [question] = query.questions
  const isPlain = (query.edns?.version ?? 0) === 0 && query.questions.length === 1
  if (!question || !isPlain) return sign(checked, deps, deps.answer(query, checked.transport))
  const zone = question.name as ZoneName
  if (query.opcode === opcode.UPDATE) return update(checked, deps)
  if (query.opcode === opcode.NOTIFY) return notify(checked, deps, zone, question.type)
  if (query.opcode === opcode.QUERY && question.type === recordType.AXFR) return axfr(checked, deps, zone)
  if (query.opcode === opcode.QUERY && question.type === recordType.IXFR) return ixfr(checked, deps, zone)
  return sign(checked, deps, deps.answer(query, checked.transport))
}

const finish = (checked: Checked, deps: HandlerDeps, parts: Partial<Message>): Uint8Array =>
  sign(checked, deps, encodeMessage(answerTo(checked.query, parts)))

/** Adds the signature. An answer over UDP that does not fit with it is truncated. */
function sign({ query, signer, transport }: Checked, { now }: HandlerDeps, wire: Uint8Array): Uint8Array {
  if (!signer) return wire
  const udpRoom = Math.min(udpLengthMax, Math.max(plainUdpLengthMax, query.edns?.udpSize ?? 0))
  const room = transport === 'tcp' ? messageLengthMax : udpRoom
  const fits = wire.length + signer.length <= room
  return signer.sign(fits ? wire : encodeMessage(answerTo(query, { tc: true })), now())
}

function notify(checked: Checked, deps: HandlerDeps, zone: ZoneName, type: number): Uint8Array {
  if (type !== recordType.SOA) return finish(checked, deps, { rcode: rcode.FORMERR })
  const soa = checked.query.answers.find((record) => record.type === recordType.SOA && record.name === zone)
  const code = deps.notified(
    zone,
    checked.peer,
    soa && soa.rdata.length >= 22 ? serialOf(soa.rdata) : undefined,
  )
  return finish(checked, deps, { rcode: code, aa: true })
}

async function update(checked: Checked, deps: HandlerDeps): Promise<Reply> {
  const code = deps.update ? await deps.update(checked.query, checked.peer) : rcode.NOTIMP
  return finish(checked, deps, { rcode: code })
}

/** Returns the view of the peer, or the RCODE that refuses the transfer. */
function allowedView(
  { peer }: Checked,
  { zones, transferView }: HandlerDeps,
  zone: ZoneName,
): TransferView | number {
  const view = transferView(zone, peer)
  if (view === undefined) return rcode.REFUSED
  const found = zones.find(zone)
  if (found === undefined) return rcode.NOTAUTH
  return found === 'expired' ? rcode.SERVFAIL : view
}

function axfr(checked: Checked, deps: HandlerDeps, zone: ZoneName): StreamReply {
  if (checked.transport === 'udp') return finish(checked, deps, { rcode: rcode.FORMERR })
  const view = allowedView(checked, deps, zone)
  if (typeof view === 'number') return finish(checked, deps, { rcode: view })
  return signedMessages(checked, deps, wholeZone(checked, deps, zone, view))
}

function ixfr(checked: Checked, deps: HandlerDeps, zone: ZoneName): StreamReply {
  const view = allowedView(checked, deps, zone)
  if (typeof view === 'number') return finish(checked, deps, { rcode: view })
  const known = checked.query.authorities.find(({ type, name }) => type === recordType.SOA && name === zone)
  if (!known || known.rdata.length < 22) return finish(checked, deps, { rcode: rcode.FORMERR })
  const from = serialOf(known.rdata)
  const current = deps.zones.find(zone)
  if (current === undefined || current === 'expired') return finish(checked, deps, { rcode: rcode.SERVFAIL })
  // Over UDP the SOA alone makes the client query again over TCP (RFC 1995 section 2), or shows that it is up to date.
  if (checked.transport === 'udp' || ((current.serial - from) | 0) <= 0)
    return finish(checked, deps, { aa: true, answers: recordsOf(current.soa) })
  return signedMessages(checked, deps, difference(checked, deps, zone, from, view))
}

async function* difference(
  checked: Checked,
  deps: HandlerDeps,
  zone: ZoneName,
  from: Serial,
  view: TransferView,
): AsyncGenerator<Uint8Array> {
  const found = await deps.zones.changes(zone, from)
  if (found) yield* ixfrMessages(checked.query, found.soa, found.steps, view)
  else yield* wholeZone(checked, deps, zone, view)
}

async function* wholeZone(
  { query }: Checked,
  { zones }: HandlerDeps,
  zone: ZoneName,
  view: TransferView,
): AsyncGenerator<Uint8Array> {
  const snapshot = await zones.open(zone)
  if (snapshot) yield* axfrMessages(query, snapshot, view)
  else yield encodeMessage(answerTo(query, { rcode: rcode.SERVFAIL }))
}

async function* signedMessages(
  { signer }: Checked,
  { now }: HandlerDeps,
  messages: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const wire of messages) yield signer ? signer.sign(wire, now()) : wire
}

/** Returns the serial of an SOA: the first of the five numbers at its end. */
function serialOf(rdata: Uint8Array): Serial {
  return toSerial(Buffer.from(rdata).readUInt32BE(rdata.length - 20))
}
