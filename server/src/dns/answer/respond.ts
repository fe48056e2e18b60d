// Turns the octets of a query into the octets of its response. Pure: sockets, transfers, NOTIFY, UPDATE and TSIG are
// handled before.
import {
  decodeHeader,
  decodeMessage,
  emptyMessage,
  headerLength,
  MessageError,
  messageLengthMax,
  opcode,
  plainUdpLengthMax,
  rcode,
  udpLengthMax,
  type Edns,
  type EdnsOption,
  type Message,
  type Question,
} from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { isMetaType, recordClass, recordType } from '../../net/dns/type.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import { answerFrom } from './answer.ts'
import type { DnsReply } from './reply.ts'
import { findServedZone, type Zones } from './zones.ts'

export type Responder = {
  readonly zones: Zones
  /** Answers to CH TXT `version.bind` and `id.server` (RFC 4892), and of NSID (RFC 5001); refused if missing. */
  readonly version?: string
  readonly id?: string
}

const nsidOption = 3

/** Returns the response; undefined if the query gets none: it is a response itself, or has no header. */
export function respond(
  responder: Responder,
  query: Uint8Array,
  transport: 'udp' | 'tcp',
): Uint8Array | undefined {
  if (query.length < headerLength || decodeHeader(query).qr) return undefined
  let message: Message
  try {
    message = decodeMessage(query)
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    const { id, opcode, rd } = decodeHeader(query)
    return encodeMessage({ ...emptyMessage, id, opcode, rd, qr: true, rcode: rcode.FORMERR })
  }
  return respondTo(responder, message, transport)
}

/** Like `respond`, for a decoded query. */
export function respondTo(responder: Responder, query: Message, transport: 'udp' | 'tcp'): Uint8Array {
  const { id, opcode, rd, questions, edns } = query
  const reply = replyTo(responder, query)
  const limit = transport === 'tcp' ? messageLengthMax : udpLimit(edns)
  const response: Message = {
    ...emptyMessage,
    id,
    opcode,
    rd,
    qr: true,
    aa: reply.aa ?? false,
    rcode: reply.rcode ?? rcode.NOERROR,
    questions,
    answers: reply.answers ?? [],
    authorities: reply.authorities ?? [],
    additionals: reply.additionals ?? [],
    ...(edns && { edns: ednsOf(responder, edns) }),
  }
  return encodeMessage(response, { limit, glue: reply.glue ?? 0 })
}

const udpLimit = (edns: Edns | undefined): number =>
  edns ? Math.min(Math.max(edns.udpSize, plainUdpLengthMax), udpLengthMax) : plainUdpLengthMax

/** Unknown options are ignored (RFC 6891 section 6.1.2). */
function ednsOf({ id }: Responder, { do: isDo, options }: Edns): Edns {
  const wantsId = id !== undefined && options.some(({ code }) => code === nsidOption)
  const answered: EdnsOption[] = wantsId ? [{ code: nsidOption, data: Buffer.from(id) }] : []
  return { udpSize: udpLengthMax, version: 0, do: isDo, options: answered }
}

type PartialReply = Partial<
  Pick<DnsReply, 'rcode' | 'aa' | 'answers' | 'authorities' | 'additionals' | 'glue'>
>

function replyTo(responder: Responder, { opcode: code, questions, edns }: Message): PartialReply {
  if (edns && edns.version !== 0) return { rcode: rcode.BADVERS }
  if (code !== opcode.QUERY) return { rcode: rcode.NOTIMP }
  const [question] = questions
  if (!question || questions.length > 1) return { rcode: rcode.FORMERR }
  if (question.class === recordClass.CH) return answerChaos(responder, question)
  if (question.class !== recordClass.IN) return { rcode: rcode.REFUSED }
  const { name, type } = question
  if (type === recordType.AXFR || type === recordType.IXFR) return { rcode: rcode.REFUSED }
  if (type === recordType.OPT) return { rcode: rcode.FORMERR }
  if (isMetaType(type) && type !== recordType.ANY) return { rcode: rcode.NOTIMP }
  const zone = findServedZone(responder.zones, name, type)
  if (zone === undefined) return { rcode: rcode.REFUSED }
  if (zone === 'expired') return { rcode: rcode.SERVFAIL }
  return answerFrom(zone, name, type, edns?.do ?? false)
}

/** RFC 4892. */
function answerChaos({ version, id }: Responder, { name, type }: Question): PartialReply {
  const texts: Readonly<Record<string, string | undefined>> = {
    'version.bind.': version,
    'version.server.': version,
    'id.server.': id,
    'hostname.bind.': id,
  }
  const text = Object.hasOwn(texts, name) ? texts[name] : undefined
  if (text === undefined || (type !== recordType.TXT && type !== recordType.ANY))
    return { rcode: rcode.REFUSED }
  const octets = Buffer.from(text).subarray(0, 255)
  const rdata = Uint8Array.from([octets.length, ...octets])
  const record: ResourceRecord = { name, type: recordType.TXT, class: recordClass.CH, ttl: 0, rdata }
  return { aa: true, answers: [record] }
}
