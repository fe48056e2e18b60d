// Writes messages with name compression, record by record, up to a limit: a transfer fills message after message with it, and `encodeMessage`
// truncates an answer by RFC 2181 section 9.
import { CompressionTable, writeLayout } from './compression.ts'
import { MessageError, headerLength, messageLengthMax } from './message.ts'
import type { Edns, Header, Message, Question } from './message.ts'
import { nameLengthMax, skipName, writeName } from './name.ts'
import type { DomainName } from './name.ts'
import type { ResourceRecord } from './record.ts'
import { recordType } from './type.ts'

const sections = { question: 4, answer: 6, authority: 8, additional: 10 } as const
export type Section = keyof typeof sections

/** A message that grows. Sections are written in their order. Not for use by two writers at a time. */
export class MessageWriter {
  #wire: Uint8Array
  #names: CompressionTable
  #limit = messageLengthMax
  #end = headerLength
  #lastName: DomainName | undefined
  #lastNameAt = 0

  /** `capacity` is the largest limit that `start` will be given. */
  constructor(capacity = messageLengthMax) {
    this.#wire = new Uint8Array(capacity + 4 * nameLengthMax)
    this.#names = new CompressionTable(this.#wire)
  }

  /** Starts a new message of at most `limit` octets. */
  start(limit: number): void {
    this.limit = limit
    this.#end = headerLength
    this.#lastName = undefined
    this.#wire.fill(0, 0, headerLength)
    this.#names.clear()
  }

  /** Octets written so far, the header included. */
  get length(): number {
    return this.#end
  }

  /** Changes the limit, to reserve space for OPT or TSIG and to release it. */
  set limit(limit: number) {
    this.#limit = Math.min(limit, this.#wire.length - 4 * nameLengthMax)
  }

  addQuestion({ name, type, class: recordClass, spelled }: Question): void {
    const wire = this.#wire
    const at = this.#end
    let end: number
    if (spelled) {
      wire.set(spelled, at)
      end = at + spelled.length
    } else end = writeName(name, wire, at)
    end = this.#names.compress(at, false)
    this.#lastName = name
    this.#lastNameAt = at
    write16(wire, end, type)
    write16(wire, end + 2, recordClass)
    this.#end = end + 4
    this.#count('question', 1)
  }

  /** Appends a record; returns false and leaves the message as it was if it does not fit. */
  addRecord(
    section: Section,
    name: DomainName,
    type: number,
    recordClass: number,
    ttl: number,
    rdata: Uint8Array,
  ): boolean {
    const wire = this.#wire
    const at = this.#end
    if (at + rdata.length + 12 > this.#limit + 3 * nameLengthMax) return false
    let end = this.#writeOwner(name, at)
    write16(wire, end, type)
    write16(wire, end + 2, recordClass)
    write32(wire, end + 4, ttl)
    const dataStart = end + 10
    end = this.#writeRdata(type, rdata, dataStart)
    write16(wire, dataStart - 2, end - dataStart)
    if (end > this.#limit) {
      this.#names.truncate(at)
      if (this.#lastNameAt >= at) this.#lastName = undefined
      return false
    }
    this.#end = end
    this.#count(section, 1)
    return true
  }

  /** Removes the last `records` of a section, which start at `length`. */
  takeBack(section: Section, records: number, length: number): void {
    this.#end = length
    this.#names.truncate(length)
    if (this.#lastNameAt >= length) this.#lastName = undefined
    this.#count(section, -records)
  }

  /** Appends OPT to the additional section. `extendedRcode` has 12 bits. */
  addOpt(edns: Edns, extendedRcode: number): boolean {
    const rdata = encodeOptions(edns)
    const ttl = (((extendedRcode >> 4) << 24) | (edns.version << 16) | (edns.do ? 0x8000 : 0)) >>> 0
    return this.addRecord('additional', '.' as DomainName, recordType.OPT, edns.udpSize, ttl, rdata)
  }

  /** Writes the header and returns a copy of the message. The writer can start another one. */
  finish(header: Header): Uint8Array {
    write16(this.#wire, 0, header.id)
    write16(this.#wire, 2, flagsOf(header))
    return this.#wire.slice(0, this.#end)
  }

  #count(section: Section, added: number): void {
    const at = sections[section]
    write16(this.#wire, at, ((this.#wire[at]! << 8) | this.#wire[at + 1]!) + added)
  }

  #writeOwner(name: DomainName, at: number): number {
    const wire = this.#wire
    if (name === this.#lastName && name.length > 1) {
      write16(wire, at, 0xc000 | this.#lastNameAt)
      return at + 2
    }
    writeName(name, wire, at)
    const end = this.#names.compress(at, false)
    if (at <= 0x3fff) {
      this.#lastName = name
      this.#lastNameAt = at
    }
    return end
  }

  #writeRdata(type: number, rdata: Uint8Array, at: number): number {
    const layout = writeLayout(type)
    const wire = this.#wire
    let from = 0
    let to = at
    for (const field of layout ?? []) {
      if (field === 'name') {
        const nameEnd = skipName(rdata, from, rdata.length)
        if (nameEnd < 0) break
        copy(rdata, from, nameEnd, wire, to)
        to = this.#names.compress(to, true)
        from = nameEnd
      } else if (typeof field === 'number') {
        copy(rdata, from, from + field, wire, to)
        from += field
        to += field
      }
    }
    copy(rdata, from, rdata.length, wire, to)
    return to + Math.max(0, rdata.length - from)
  }
}

function copy(source: Uint8Array, from: number, end: number, target: Uint8Array, to: number): void {
  if (end - from > 64) target.set(source.subarray(from, end), to)
  else for (let i = from; i < end; i++) target[to + i - from] = source[i]!
}

function flagsOf(header: Header): number {
  return (
    (header.qr ? 0x8000 : 0) |
    ((header.opcode & 15) << 11) |
    (header.aa ? 0x0400 : 0) |
    (header.tc ? 0x0200 : 0) |
    (header.rd ? 0x0100 : 0) |
    (header.ra ? 0x0080 : 0) |
    (header.ad ? 0x0020 : 0) |
    (header.cd ? 0x0010 : 0) |
    (header.rcode & 15)
  )
}

function encodeOptions({ options }: Edns): Uint8Array {
  const rdata = new Uint8Array(options.reduce((length, { data }) => length + 4 + data.length, 0))
  let at = 0
  for (const { code, data } of options) {
    write16(rdata, at, code)
    write16(rdata, at + 2, data.length)
    rdata.set(data, at + 4)
    at += 4 + data.length
  }
  return rdata
}

/**
 * `limit`: octets of the message. `glue`: number of the first additional records that must not be omitted silently (RFC
 * 9471).
 */
export type EncodeOptions = { readonly limit?: number; readonly glue?: number }

const sharedWriter = new MessageWriter()

/**
 * Encodes a message without its TSIG. If the answers, authorities or the glue do not fit, the message ends before the
 * record set that does not fit and has TC set; other additional record sets are omitted. OPT is always written. Throws
 * MessageError if a question, OPT or an extended RCODE cannot be written.
 */
export function encodeMessage(
  message: Message,
  { limit = messageLengthMax, glue = 0 }: EncodeOptions = {},
): Uint8Array {
  const { edns } = message
  if (message.rcode > 15 && !edns) throw new MessageError('opt', 'an extended RCODE needs EDNS')
  const writer = sharedWriter
  writer.start(limit)
  for (const question of message.questions) writer.addQuestion(question)
  const optLength = edns ? edns.options.reduce((length, { data }) => length + 4 + data.length, 11) : 0
  if (writer.length + optLength > limit)
    throw new MessageError('length', 'the question and OPT do not fit into the limit')
  writer.limit = limit - optLength
  const isWhole =
    addSets(writer, 'answer', message.answers, message.answers.length) &&
    addSets(writer, 'authority', message.authorities, message.authorities.length) &&
    addSets(writer, 'additional', message.additionals, glue)
  writer.limit = limit
  if (edns) writer.addOpt(edns, message.rcode)
  return writer.finish(isWhole ? message : { ...message, tc: true })
}

/** Writes whole record sets. Sets that start among the first `required` records must fit; others may be omitted. */
function addSets(
  writer: MessageWriter,
  section: Section,
  records: readonly ResourceRecord[],
  required: number,
): boolean {
  for (let first = 0; first < records.length;) {
    const { length } = writer
    let next = first
    let fits = true
    for (; next < records.length && sameSet(records[first]!, records[next]!); next++) {
      const { name, type, class: recordClass, ttl, rdata } = records[next]!
      if (fits && !writer.addRecord(section, name, type, recordClass, ttl, rdata)) {
        fits = false
        writer.takeBack(section, next - first, length)
      }
    }
    if (!fits && first < required) return false
    first = next
  }
  return true
}

function sameSet(a: ResourceRecord, b: ResourceRecord): boolean {
  return a.type === b.type && a.name === b.name && a.class === b.class
}

export function write16(wire: Uint8Array, at: number, value: number): void {
  wire[at] = value >> 8
  wire[at + 1] = value
}

export function write32(wire: Uint8Array, at: number, value: number): void {
  wire[at] = value >>> 24
  wire[at + 1] = value >>> 16
  wire[at + 2] = value >>> 8
  wire[at + 3] = value
}
