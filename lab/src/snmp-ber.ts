// The encoding of SNMP messages as far as the replay agent needs it: BER (X.690) of the types of SMIv2 (RFC 2578), requests of
// SNMPv2c read (RFC 3416), answers written. It has no schema and no security model: SNMPv3 is tested with snmpd.

/** A value by the number of its type, as in the middle column of .snmprec files. */
export type SnmpValue =
  | { readonly tag: 2 | 65 | 66 | 67 | 70; readonly value: bigint }
  | { readonly tag: 4 | 64 | 68; readonly value: Uint8Array }
  | { readonly tag: 6; readonly value: readonly number[] }
  | { readonly tag: 5 | 128 | 129 | 130; readonly value: null }

/** Values of the types; `counter` and `gauge` have 32 bits, `ticks` are hundredths of a second. */
export const snmpValue = {
  integer: (value: number): SnmpValue => ({ tag: 2, value: BigInt(value) }),
  text: (value: string | Uint8Array): SnmpValue => ({ tag: 4, value: Buffer.from(value) }),
  oid: (value: string): SnmpValue => ({ tag: 6, value: parseOid(value) }),
  address: (...value: number[]): SnmpValue => ({ tag: 64, value: Uint8Array.from(value) }),
  counter: (value: number | bigint): SnmpValue => ({ tag: 65, value: BigInt(value) }),
  gauge: (value: number | bigint): SnmpValue => ({ tag: 66, value: BigInt(value) }),
  ticks: (value: number | bigint): SnmpValue => ({ tag: 67, value: BigInt(value) }),
  counter64: (value: number | bigint): SnmpValue => ({ tag: 70, value: BigInt(value) }),
}
export const noSuchObject: SnmpValue = { tag: 128, value: null }
export const endOfMibView: SnmpValue = { tag: 130, value: null }

export const parseOid = (text: string): number[] => text.replace(/^\./, '').split('.').map(Number)

export function compareOids(one: readonly number[], other: readonly number[]): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return one[at]! - other[at]!
  return one.length - other.length
}

export function encodeTlv(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  if (length < 128) return Buffer.concat([Buffer.of(tag, length), content])
  const size = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

/** Two's complement in the fewest octets: a counter above 2^63 has nine. */
function encodeInteger(value: bigint): Buffer {
  let length = 1
  while (value > (1n << BigInt(8 * length - 1)) - 1n || value < -(1n << BigInt(8 * length - 1))) length++
  const unsigned = BigInt.asUintN(8 * length, value)
  return Buffer.from(unsigned.toString(16).padStart(2 * length, '0'), 'hex')
}

function encodeOid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const octets: number[] = []
  for (const part of [first * 40 + second, ...rest]) {
    for (let shift = 28; shift > 0; shift -= 7)
      if (part >= 2 ** shift) octets.push(0x80 | (Math.floor(part / 2 ** shift) & 0x7f))
    octets.push(part & 0x7f)
  }
  return Buffer.from(octets)
}

function encodeValue({ tag, value }: SnmpValue): Buffer {
  if (value === null) return encodeTlv(tag, Buffer.alloc(0))
  if (typeof value === 'bigint') return encodeTlv(tag, encodeInteger(value))
  return encodeTlv(tag, tag === 6 ? encodeOid(value as readonly number[]) : (value as Uint8Array))
}

export const encodeVarbind = (oid: readonly number[], value: SnmpValue): Buffer =>
  encodeTlv(0x30, Buffer.concat([encodeTlv(6, encodeOid(oid)), encodeValue(value)]))

export type SnmpRequest = {
  readonly community: string
  readonly kind: 'get' | 'next' | 'bulk'
  readonly id: bigint
  readonly nonRepeaters: number
  readonly maxRepetitions: number
  readonly oids: readonly (readonly number[])[]
}

const kinds: Record<number, SnmpRequest['kind']> = { 0xa0: 'get', 0xa1: 'next', 0xa5: 'bulk' }

/** Whether a message is of SNMPv2c: an agent ignores others. */
export function isVersion2c(datagram: Uint8Array): boolean {
  const [version] = children(tlvOf(datagram).content)
  return version !== undefined && decodeInteger(version.content) === 1n
}

/** Throws if the datagram is no request of SNMPv2c. */
export function decodeRequest(datagram: Uint8Array): SnmpRequest {
  if (!isVersion2c(datagram)) throw new Error('not SNMPv2c')
  const [, community, pdu] = children(tlvOf(datagram).content)
  const kind = kinds[pdu?.tag ?? 0]
  if (community === undefined || pdu === undefined || kind === undefined) throw new Error('not a request')
  const [id, first, second, varbinds] = children(pdu.content)
  return {
    community: Buffer.from(community.content).toString('latin1'),
    kind,
    id: decodeInteger(id!.content),
    nonRepeaters: Number(decodeInteger(first!.content)),
    maxRepetitions: Number(decodeInteger(second!.content)),
    oids: children(varbinds!.content).map(({ content }) => decodeOid(tlvOf(content).content)),
  }
}

/** `errorStatus` is 1 for tooBig, 5 for genErr (RFC 3416 section 3). */
export function encodeAnswer(
  { community, id }: Pick<SnmpRequest, 'community' | 'id'>,
  varbinds: readonly Uint8Array[],
  errorStatus = 0,
): Buffer {
  const integer = (value: bigint) => encodeTlv(2, encodeInteger(value))
  const list = encodeTlv(0x30, Buffer.concat(varbinds))
  const pdu = Buffer.concat([integer(id), integer(BigInt(errorStatus)), integer(0n), list])
  const head = [integer(1n), encodeTlv(4, Buffer.from(community, 'latin1'))]
  return encodeTlv(0x30, Buffer.concat([...head, encodeTlv(0xa2, pdu)]))
}

type Tlv = { readonly tag: number; readonly content: Uint8Array; readonly end: number }

function tlvOf(octets: Uint8Array, start = 0): Tlv {
  const [tag = 0, first = 0] = octets.subarray(start)
  const size = first < 128 ? 0 : first - 128
  let length = size === 0 ? first : 0
  for (let at = 0; at < size; at++) length = length * 256 + (octets[start + 2 + at] ?? 0)
  const end = start + 2 + size + length
  if (end > octets.length) throw new Error('truncated')
  return { tag, content: octets.subarray(end - length, end), end }
}

function children(octets: Uint8Array): Tlv[] {
  const found: Tlv[] = []
  for (let at = 0; at < octets.length; at = found.at(-1)!.end) found.push(tlvOf(octets, at))
  return found
}

const decodeInteger = (octets: Uint8Array): bigint =>
  BigInt.asIntN(8 * octets.length, BigInt(`0x${Buffer.from(octets).toString('hex') || '0'}`))

function decodeOid(octets: Uint8Array): number[] {
  const parts: number[] = []
  let part = 0
  for (const octet of octets) {
    part = part * 128 + (octet & 0x7f)
    if (octet >= 128) continue
    if (parts.length === 0)
      parts.push(Math.min(2, Math.floor(part / 40)), part - 40 * Math.min(2, Math.floor(part / 40)))
    else parts.push(part)
    part = 0
  }
  return parts
}
