// Datagrams for tests, built field by field from the documents of the protocols, and rows of columns as objects.
import { createFlowColumns, type FlowColumns } from '../../flow/flow-columns.ts'
import type { FlowDecoder } from '../../flow/flow-decoder.ts'
import { formatWords, parseWords } from '../datagram/address-words.ts'

/** A number with its length in octets, or octets. */
export type Part = readonly [value: number | bigint, octets: number] | Uint8Array

/** Concatenates parts in network order. */
export function pack(...parts: readonly Part[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => {
      if (part instanceof Uint8Array) return part
      const [value, octets] = part
      return Buffer.from(
        BigInt.asUintN(octets * 8, BigInt(value))
          .toString(16)
          .padStart(octets * 2, '0'),
        'hex',
      )
    }),
  )
}

export const u8 = (value: number): Part => [value, 1]
export const u16 = (value: number): Part => [value, 2]
export const u32 = (value: number): Part => [value, 4]
export const u64 = (value: number | bigint): Part => [value, 8]

/** The octets of an address: 4 or 16. */
export function ipOctets(text: string): Uint8Array {
  const words = parseWords(text)
  return pack(...(text.includes(':') ? words : words.slice(3)).map(u32))
}

/** The octets of a text. */
export const bytes = (text: string): Uint8Array => Buffer.from(text)

/** A set of v9 or IPFIX, padded to four octets. */
export function set(id: number, ...parts: readonly Part[]): Uint8Array {
  const body = pack(...parts)
  const padding = (4 - (body.length % 4)) % 4
  return pack(u16(id), u16(4 + body.length + padding), body, new Uint8Array(padding))
}

export type TemplateField = readonly [element: number, length: number, enterprise?: number]

const field = ([element, length, enterprise]: TemplateField): Uint8Array =>
  enterprise === undefined
    ? pack(u16(element), u16(length))
    : pack(u16(element | 0x8000), u16(length), u32(enterprise))

/** A template record, of both protocols. */
export const template = (id: number, ...fields: readonly TemplateField[]): Uint8Array =>
  pack(u16(id), u16(fields.length), ...fields.map(field))

/** An options template of IPFIX. */
export const options = (
  id: number,
  scopes: readonly TemplateField[],
  ...fields: readonly TemplateField[]
): Uint8Array =>
  pack(u16(id), u16(scopes.length + fields.length), u16(scopes.length), ...[...scopes, ...fields].map(field))

/** An options template of NetFlow v9; its scopes are types of scope. */
export const optionsV9 = (
  id: number,
  scopes: readonly TemplateField[],
  ...fields: readonly TemplateField[]
): Uint8Array =>
  pack(u16(id), u16(scopes.length * 4), u16(fields.length * 4), ...[...scopes, ...fields].map(field))

type Header = { readonly sequence?: number; readonly domain?: number }

export function v9({ sequence = 0, domain = 1 }: Header, ...sets: readonly Uint8Array[]): Uint8Array {
  return pack(u16(9), u16(sets.length), u32(1000), u32(1_700_000_000), u32(sequence), u32(domain), ...sets)
}

export function ipfix({ sequence = 0, domain = 1 }: Header, ...sets: readonly Uint8Array[]): Uint8Array {
  const body = pack(...sets)
  return pack(u16(10), u16(16 + body.length), u32(1_700_000_000), u32(sequence), u32(domain), body)
}

export type V5Record = {
  readonly src: string
  readonly dst: string
  readonly packets: number
  readonly octets: number
  readonly srcPort?: number
  readonly dstPort?: number
  readonly protocol?: number
}

export function v5(
  { sequence = 0, engine = 0, sampling = 0 }: { sequence?: number; engine?: number; sampling?: number },
  ...records: readonly V5Record[]
): Uint8Array {
  return pack(
    u16(5),
    u16(records.length),
    u32(100_000),
    u32(1_700_000_000),
    u32(0),
    u32(sequence),
    u16(engine),
    u16(sampling),
    ...records.map(({ src, dst, packets, octets, srcPort = 1000, dstPort = 53, protocol = 17 }) =>
      pack(
        ipOctets(src),
        ipOctets(dst),
        u32(0),
        u16(3),
        u16(4),
        u32(packets),
        u32(octets),
        u32(90_000),
        u32(95_000),
        u16(srcPort),
        u16(dstPort),
        u8(0),
        u8(0x12),
        u8(protocol),
        u8(0xb8),
        u16(64_500),
        u16(64_501),
        u8(24),
        u8(24),
        u16(0),
      ),
    ),
  )
}

/** A sample or record of sFlow: type, length, body. */
export const xdr = (type: number, ...parts: readonly Part[]): Uint8Array => {
  const body = pack(...parts)
  const padded = pack(body, new Uint8Array((4 - (body.length % 4)) % 4))
  return pack(u32(type), u32(padded.length), padded)
}

export function sflowDatagram(
  {
    sequence = 1,
    agent = '192.0.2.9',
    uptime = 1000,
  }: { sequence?: number; agent?: string; uptime?: number },
  ...samples: readonly Uint8Array[]
): Uint8Array {
  const address = ipOctets(agent)
  const kind = address.length === 4 ? 1 : 2
  return pack(u32(5), u32(kind), address, u32(0), u32(sequence), u32(uptime), u32(samples.length), ...samples)
}

/** A flow sample of interface 3 to 4, 1 in `rate`. */
export const flowSample = (rate: number, ...records: readonly Uint8Array[]): Uint8Array =>
  xdr(1, u32(1), u32(3), u32(rate), u32(rate * 10), u32(0), u32(3), u32(4), u32(records.length), ...records)

export const rawHeader = (protocol: number, frameLength: number, header: Uint8Array): Uint8Array =>
  xdr(1, u32(protocol), u32(frameLength), u32(4), u32(header.length), header)

/** A frame without addresses. */
export const ethernetFrame = (type: number, ...parts: Part[]) => pack(new Uint8Array(12), u16(type), ...parts)

export const ipv4Frame = (
  { protocol, fragment = 0 }: { protocol: number; fragment?: number },
  ...parts: Part[]
) =>
  pack(
    u8(0x45),
    u8(0),
    u16(1000),
    u16(1),
    u16(fragment),
    u8(64),
    u8(protocol),
    u16(0),
    ipOctets('192.0.2.1'),
    ipOctets('198.51.100.2'),
    ...parts,
  )

export const ipv6Frame = (next: number, ...parts: Part[]) =>
  pack(
    u32(0x6b_80_00_00),
    u16(100),
    u8(next),
    u8(64),
    ipOctets('2001:db8::1'),
    ipOctets('2001:db8::2'),
    ...parts,
  )

export type FlowRow = Record<string, number | string>

/** The rows of a batch as objects; counters as numbers. */
export function flowRowsOf(columns: FlowColumns): FlowRow[] {
  const words = (column: Uint32Array, row: number) =>
    formatWords([...column.subarray(row * 4, row * 4 + 4)] as unknown as [number, number, number, number])
  return Array.from({ length: columns.length }, (_, row) => ({
    time: columns.time[row]!,
    exporter: columns.exporter[row]!,
    src: words(columns.src, row),
    dst: words(columns.dst, row),
    srcPort: columns.srcPort[row]!,
    dstPort: columns.dstPort[row]!,
    protocol: columns.protocol[row]!,
    tcpFlags: columns.tcpFlags[row]!,
    dscp: columns.dscp[row]!,
    fragment: columns.fragment[row]!,
    inIf: columns.inIf[row]!,
    outIf: columns.outIf[row]!,
    srcAs: columns.srcAs[row]!,
    dstAs: columns.dstAs[row]!,
    octets: columns.bytesHi[row]! * 2 ** 32 + columns.bytesLo[row]!,
    packets: columns.packetsHi[row]! * 2 ** 32 + columns.packetsLo[row]!,
    rate: columns.samplingRate[row]!,
    duration: columns.durationMs[row]!,
  }))
}

export const testNowMs = 1_800_000_000_000

/** Decodes datagrams of one exporter and returns all rows. */
export function decodeAll(
  decoder: FlowDecoder,
  datagrams: readonly Uint8Array[],
  { exporter = '192.0.2.1', port = 50_000, nowMs = testNowMs, capacity = 70_000 } = {},
): FlowRow[] {
  const columns = createFlowColumns(capacity)
  const sender = Uint32Array.from(parseWords(exporter))
  for (const datagram of datagrams) {
    decoder.decode(datagram, 0, datagram.length, sender, 0, port, nowMs, columns)
  }
  return flowRowsOf(columns)
}
