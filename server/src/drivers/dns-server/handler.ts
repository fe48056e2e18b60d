// Decides what a message asks for and who may ask: questions, transfers, NOTIFY and UPDATE, each with TSIG where the request has it. An answer
// to a signed request is signed, the SOA over UDP too: BIND drops an unsigned one and then never transfers.
import type { Peer, TransferView, ZoneSource } from '../../dns/answer/zone-source.ts'
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
  type Message,
  type Question,
} from '../../net/dns/message.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { recordsOf, type ResourceRecord } from '../../net/dns/record.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import { TsigSigner, tsigLength, verifyTsig, type TsigKey } from '../../net/dns/tsig.ts'
import { recordClass, recordType } from '../../net/dns/type.ts'
import { chaosAnswer, type ServerIdentity } from './identity.ts'
import { axfrMessages, ixfrMessages } from './transfer.ts'

/** The sections of an answer, as `dns/answer` makes them. `glue`: how many of the first additional records are required. */
export type AnswerParts = {
  readonly rcode: number
  readonly aa: boolean
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
  readonly additionals: readonly ResourceRecord[]
  readonly glue?: number
}

export type HandlerDeps = {
  readonly zones: ZoneSource
  readonly answer: (question: Question, wantsDnssec: boolean) => AnswerParts
  readonly findKey: (name: DomainName) => TsigKey | undefined
  /** Returns what the peer may transfer of the zone; undefined for nothing. */
  readonly transferView: (zone: ZoneName, peer: Peer) => TransferView | undefined
  /** Takes a NOTIFY for a zone; returns the RCODE of the answer. */
  readonly notified: (zone: ZoneName, peer: Peer, serial: Serial | undefined) => number
  /** Applies an UPDATE (RFC 2136); returns the RCODE. Without it UPDATE is not implemented. */
  readonly update?: (message: Message, peer: Peer) => Promise<number>
  readonly identity: ServerIdentity
  /** Unix time in seconds. */
  readonly now: () => number
}

export type DnsRequest = {
  readonly wire: Uint8Array
  readonly address: string
  readonly transport: 'udp' | 'tcp'
}

type Reply = Uint8Array | undefined

export interface RequestHandler {
  handleDatagram(request: DnsRequest): Reply | Promise<Reply>
  handleStream(request: DnsRequest): Reply | Promise<Reply> | AsyncIterable<Uint8Array>
  /** Returns an empty truncated answer, so that the client repeats its question over TCP. */
  truncated(request: DnsRequest): Reply
}

/** Octets of an answer over UDP that no path has to fragment (DNS Flag Day 2020), and what we announce to receive. */
const udpLength = 1_232

/** A request with its signature verified. `sign` adds the signature of the answer. */
type Checked = {
  readonly query: Message
  readonly peer: Peer
  readonly request: DnsRequest
  readonly signer: TsigSigner | undefined
}

export function createHandler(deps: HandlerDeps): RequestHandler {
  const stream = (request: DnsRequest): ReturnType<RequestHandler['handleStream']> => {
    const checked = check(request, deps)
    return checked instanceof Uint8Array || checked === undefined ? checked : dispatch(checked, deps)
  }
  return {
    handleStream: stream,
    handleDatagram: (request) => stream(request) as Reply | Promise<Reply>,
    truncated: ({ wire }) => (isQuery(wire) ? headerAnswer(wire, rcode.NOERROR, { tc: true }) : undefined),
  }
}

/** Responses are never answered: two servers would answer each other for ever. */
const isQuery = (wire: Uint8Array): boolean => wire.length >= headerLength && (wire[2]! & 0x80) === 0

/** Returns the request, the answer that refuses it, or undefined to send nothing. */
function check(request: DnsRequest, { findKey, now }: HandlerDeps): Checked | Reply {
  const { wire, address } = request
  if (!isQuery(wire)) return undefined
  try {
    const query = decodeMessage(wire)
    if (!query.tsig) return { query, peer: { address, key: undefined }, request, signer: undefined }
    const verdict = verifyTsig(wire, query, findKey, now())
    if (!verdict.ok) return verdict.answer(encodeMessage(answerTo(query, { rcode: rcode.NOTAUTH })), now())
    const { key, mac } = verdict
    return { query, peer: { address, key: key.name }, request, signer: new TsigSigner(key, mac) }
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    return headerAnswer(wire, rcode.FORMERR)
  }
}

function headerAnswer(wire: Uint8Array, code: number, flags: { tc?: boolean } = {}): Uint8Array {
  const { id, opcode, rd } = decodeHeader(wire)
  return encodeMessage({ ...emptyMessage, id, opcode, rd, qr: true, rcode: code, ...flags })
}

function answerTo({ id, opcode, rd, cd, questions }: Message, parts: Partial<Message>): Message {
  return { ...emptyMessage, id, opcode, rd, cd, qr: true, questions, ...parts }
}

function dispatch(
  checked: Checked,
  deps: HandlerDeps,
): Reply | Promise<Reply> | AsyncIterable<Uint8Array> {
  const { query } = checked
  if (query.edns && query.edns.version > 0) return finish(checked, deps, { rcode: rcode.BADVERS })
  if (query.opcode === opcode.UPDATE) return update(checked, deps)
  if (query.opcode !== opcode.QUERY && query.opcode !== opcode.NOTIFY)
    return finish(checked, deps, { rcode: rcode.NOTIMP })
  const [question] = query.questions
  if (!question || query.questions.length > 1) return finish(checked, deps, { rcode: rcode.FORMERR })
  if (query.opcode === opcode.NOTIFY) return notify(checked, deps, question)
  if (question.class === recordClass.CH) return finish(checked, deps, chaosAnswer(question, deps.identity))
  if (question.class !== recordClass.IN && question.class !== recordClass.ANY)
    return finish(checked, deps, { rcode: rcode.REFUSED })
  if (question.type === recordType.AXFR) return axfr(checked, deps, question.name as ZoneName)
  if (question.type === recordType.IXFR) return ixfr(checked, deps, question.name as ZoneName)
  return finish(checked, deps, deps.answer(question, query.edns?.do ?? false))
}

/** Encodes the answer within what the client takes, and signs it. */
function finish(
  { query, request, signer }: Checked,
  { now }: HandlerDeps,
  { glue = 0, ...parts }: Partial<Message> & { readonly glue?: number },
): Uint8Array {
  const { edns } = query
  const answer = answerTo(query, {
    ...parts,
    ...(edns && { edns: { udpSize: udpLength, version: 0, do: edns.do, options: [] } }),
  })
  const room = request.transport === 'tcp' ? messageLengthMax : udpLimit(edns?.udpSize)
  const limit = signer ? room - tsigLength(signer.key) : room
  const wire = encodeMessage(answer, { limit, glue })
  return signer ? signer.sign(wire, now()) : wire
}

const udpLimit = (announced: number | undefined): number =>
  announced === undefined ? plainUdpLengthMax : Math.min(udpLength, Math.max(plainUdpLengthMax, announced))

function notify(checked: Checked, deps: HandlerDeps, { name, type }: Question): Uint8Array {
  if (type !== recordType.SOA) return finish(checked, deps, { rcode: rcode.FORMERR })
  const soa = checked.query.answers.find((record) => record.type === recordType.SOA && record.name === name)
  const code = deps.notified(name as ZoneName, checked.peer, soa && serialOf(soa.rdata))
  return finish(checked, deps, { rcode: code, aa: true })
}

async function update(checked: Checked, deps: HandlerDeps): Promise<Reply> {
  const code = deps.update ? await deps.update(checked.query, checked.peer) : rcode.NOTIMP
  return finish(checked, deps, { rcode: code })
}

/** Returns the refusal of a transfer; otherwise what the peer gets. */
function transferView(
  checked: Checked,
  { zones, transferView }: HandlerDeps,
  zone: ZoneName,
): { readonly view: TransferView } | { readonly rcode: number } {
  const found = zones.find(zone)
  const view = transferView(zone, checked.peer)
  if (view === undefined) return { rcode: rcode.REFUSED }
  if (found === undefined) return { rcode: rcode.NOTAUTH }
  return found === 'expired' ? { rcode: rcode.SERVFAIL } : { view }
}

function axfr(checked: Checked, deps: HandlerDeps, zone: ZoneName): Reply | AsyncIterable<Uint8Array> {
  if (checked.request.transport === 'udp') return finish(checked, deps, { rcode: rcode.FORMERR })
  const allowed = transferView(checked, deps, zone)
  if ('rcode' in allowed) return finish(checked, deps, allowed)
  return signedMessages(checked, deps, wholeZone(checked, deps, zone, allowed.view))
}

function ixfr(checked: Checked, deps: HandlerDeps, zone: ZoneName): Reply | AsyncIterable<Uint8Array> {
  const allowed = transferView(checked, deps, zone)
  if ('rcode' in allowed) return finish(checked, deps, allowed)
  const known = checked.query.authorities.find(({ type, name }) => type === recordType.SOA && name === zone)
  if (!known || known.rdata.length < 22) return finish(checked, deps, { rcode: rcode.FORMERR })
  const from = serialOf(known.rdata)
  const current = deps.zones.find(zone)
  if (current === undefined || current === 'expired') return finish(checked, deps, { rcode: rcode.SERVFAIL })
  // Over UDP the SOA alone tells the client to ask again over TCP (RFC 1995 section 2), and that it is up to date if it is.
  if (checked.request.transport === 'udp' || ((current.serial - from) | 0) <= 0)
    return finish(checked, deps, { aa: true, answers: recordsOf(current.soa) })
  return signedMessages(checked, deps, difference(checked, deps, zone, from, allowed.view))
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
