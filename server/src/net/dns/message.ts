// DNS messages (RFC 1035 section 4, EDNS of RFC 6891) as values. Independent of sockets, zones and signatures: TSIG
// (`tsig.ts`) signs and verifies the octets.
import { createReadName, readCompressedName, readLayout } from './compression.ts'
import type { ReadName } from './compression.ts'
import { MessageError } from './message-error.ts'
import { nameFromWire } from './name.ts'
import type { DomainName } from './name.ts'
import type { ResourceRecord } from './record.ts'
import { recordClass, recordType } from './type.ts'

export { MessageError } from './message-error.ts'

export const opcode = { QUERY: 0, IQUERY: 1, STATUS: 2, NOTIFY: 4, UPDATE: 5 } as const

export const rcode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const

/** Octets of the longest message over TCP, and over UDP without EDNS. */
export const messageLengthMax = 65_535
export const plainUdpLengthMax = 512
/** Octets over UDP that fit the packets of every path (RFC 9715 section 3.2). */
export const udpLengthMax = 1_232
export const headerLength = 12

export type Header = {
  /** 16 bits. */
  readonly id: number
  /** Response. */
  readonly qr: boolean
  readonly opcode: number
  /** Authoritative answer. */
  readonly aa: boolean
  /** Truncated. */
  readonly tc: boolean
  /** Recursion desired, recursion available. */
  readonly rd: boolean
  readonly ra: boolean
  /** Authentic data, checking disabled (RFC 4035). */
  readonly ad: boolean
  readonly cd: boolean
  /** 12 bits: with the upper eight of OPT. */
  readonly rcode: number
}

/** `spelled` is the name in wire format in the case of the request, which an answer repeats. */
export type Question = {
  readonly name: DomainName
  readonly type: number
  readonly class: number
  readonly spelled?: Uint8Array
}

export type EdnsOption = { readonly code: number; readonly data: Uint8Array }

/** The OPT record. `do`: DNSSEC records are wanted (RFC 3225). */
export type Edns = {
  readonly udpSize: number
  readonly version: number
  readonly do: boolean
  readonly options: readonly EdnsOption[]
}

/** The sections have neither OPT nor TSIG. In UPDATE they are zone, prerequisites, updates and additional data (RFC 2136). */
export type Message = Header & {
  readonly questions: readonly Question[]
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
  readonly additionals: readonly ResourceRecord[]
  readonly edns?: Edns
  /** The TSIG record of a decoded message, and where it starts. `encodeMessage` does not write it. */
  readonly tsig?: { readonly name: DomainName; readonly rdata: Uint8Array; readonly start: number }
}

/** A query without questions and flags, to spread into others. */
export const emptyMessage: Message = {
  id: 0,
  qr: false,
  opcode: opcode.QUERY,
  aa: false,
  tc: false,
  rd: false,
  ra: false,
  ad: false,
  cd: false,
  rcode: rcode.NOERROR,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
}

/** Decodes the header alone, for an answer to a message that cannot be decoded. Throws MessageError if it is shorter than a header. */
export function decodeHeader(wire: Uint8Array): Header {
  if (wire.length < headerLength) throw new MessageError('truncated', 'the message is shorter than a header')
  const flags = read16(wire, 2)
  return {
    id: read16(wire, 0),
    qr: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 15,
    aa: (flags & 0x0400) !== 0,
    tc: (flags & 0x0200) !== 0,
    rd: (flags & 0x0100) !== 0,
    ra: (flags & 0x0080) !== 0,
    ad: (flags & 0x0020) !== 0,
    cd: (flags & 0x0010) !== 0,
    rcode: flags & 15,
  }
}

/**
 * Decodes a message. Record data is decompressed but not validated: validate it with `validateRdata` before storing it. The work is bounded by the
 * length of the message, whatever counts its header has. Throws MessageError.
 */
export function decodeMessage(wire: Uint8Array): Message {
  const header = decodeHeader(wire)
  if (wire.length > messageLengthMax) throw new MessageError('length', 'a message has at most 65535 octets')
  const reader: Reader = { wire, at: headerLength, name: createReadName(), edns: undefined, tsig: undefined }
  const questions: Question[] = []
  for (let left = read16(wire, 4); left > 0; left--) questions.push(readQuestion(reader))
  const answers = readRecords(reader, read16(wire, 6), false)
  const authorities = readRecords(reader, read16(wire, 8), false)
  const additionals = readRecords(reader, read16(wire, 10), true)
  if (reader.at !== wire.length) throw new MessageError('trailing', 'octets follow the last record')
  const { edns, tsig } = reader
  return {
    ...header,
    rcode: edns ? (edns.rcodeUpper << 4) | header.rcode : header.rcode,
    questions,
    answers,
    authorities,
    additionals,
    ...(edns && { edns: edns.edns }),
    ...(tsig && { tsig }),
  }
}

type Reader = {
  readonly wire: Uint8Array
  at: number
  readonly name: ReadName
  edns: { readonly edns: Edns; readonly rcodeUpper: number } | undefined
  tsig: Message['tsig'] | undefined
}

function readOwner(reader: Reader): DomainName {
  readCompressedName(reader.wire, reader.at, reader.wire.length, reader.name)
  reader.at = reader.name.end
  return nameFromWire(reader.name.wire.subarray(0, reader.name.length))
}

function readQuestion(reader: Reader): Question {
  const name = readOwner(reader)
  const spelled = reader.name.wire.slice(0, reader.name.length)
  const { wire, at } = reader
  if (at + 4 > wire.length) throw new MessageError('truncated', 'a question goes beyond the end')
  reader.at += 4
  return { name, type: read16(wire, at), class: read16(wire, at + 2), spelled }
}

function readRecords(reader: Reader, count: number, isAdditional: boolean): ResourceRecord[] {
  const { wire } = reader
  const records: ResourceRecord[] = []
  for (let left = count; left > 0; left--) {
    if (reader.tsig) throw new MessageError('tsig', 'a record follows TSIG')
    const start = reader.at
    const name = readOwner(reader)
    const at = reader.at
    if (at + 10 > wire.length) throw new MessageError('truncated', 'a record goes beyond the end')
    const type = read16(wire, at)
    const dataStart = at + 10
    const dataEnd = dataStart + read16(wire, at + 8)
    if (dataEnd > wire.length) throw new MessageError('truncated', 'record data goes beyond the end')
    reader.at = dataEnd
    if (type === recordType.OPT) {
      if (!isAdditional || reader.edns || name !== '.')
        throw new MessageError('opt', 'OPT is misplaced or repeated')
      reader.edns = readOpt(wire, at, dataStart, dataEnd)
    } else if (type === recordType.TSIG) {
      if (!isAdditional || read16(wire, at + 2) !== recordClass.ANY)
        throw new MessageError('tsig', 'TSIG is misplaced or has a wrong class')
      reader.tsig = { name, rdata: wire.slice(dataStart, dataEnd), start }
    } else {
      records.push({
        name,
        type,
        class: read16(wire, at + 2),
        ttl: read32(wire, at + 4),
        rdata: readRdata(reader, type, dataStart, dataEnd),
      })
    }
  }
  return records
}

function readOpt(wire: Uint8Array, at: number, dataStart: number, dataEnd: number): Reader['edns'] {
  const options: EdnsOption[] = []
  for (let i = dataStart; i < dataEnd;) {
    const end = i + 4 + (i + 4 <= dataEnd ? read16(wire, i + 2) : 0)
    if (i + 4 > dataEnd || end > dataEnd) throw new MessageError('opt', 'an EDNS option goes beyond its end')
    options.push({ code: read16(wire, i), data: wire.slice(i + 4, end) })
    i = end
  }
  const isDo = (wire[at + 6]! & 0x80) !== 0
  const edns = { udpSize: read16(wire, at + 2), version: wire[at + 5]!, do: isDo, options }
  return { edns, rcodeUpper: wire[at + 4]! }
}

/** Copies the data with its names decompressed. Empty data is left alone: UPDATE deletes with it (RFC 2136 section 2.5). */
function readRdata(reader: Reader, type: number, start: number, end: number): Uint8Array {
  const { wire, name } = reader
  const layout = start === end ? undefined : readLayout(type)
  if (layout === undefined) return wire.slice(start, end)
  const parts: Uint8Array[] = []
  let at = start
  let length = 0
  for (const field of layout) {
    if (field === 'name') {
      readCompressedName(wire, at, end, name)
      parts.push(name.wire.slice(0, name.length))
      length += name.length
      at = name.end
      continue
    }
    const fieldEnd = at + (field === 'string' ? 1 + (at < end ? wire[at]! : 0) : field)
    if (fieldEnd > end) throw new MessageError('rdata', `record data of type ${type} is too short`)
    parts.push(wire.subarray(at, fieldEnd))
    length += fieldEnd - at
    at = fieldEnd
  }
  const rdata = new Uint8Array(length + end - at)
  let to = 0
  for (const part of parts) {
    rdata.set(part, to)
    to += part.length
  }
  rdata.set(wire.subarray(at, end), to)
  return rdata
}

export function read16(wire: Uint8Array, at: number): number {
  return (wire[at]! << 8) | wire[at + 1]!
}

function read32(wire: Uint8Array, at: number): number {
  return ((wire[at]! << 24) | (wire[at + 1]! << 16) | (wire[at + 2]! << 8) | wire[at + 3]!) >>> 0
}
