// The outer part of an SNMP message, read before the library sees it (RFC 3416, RFC 3412 section 6). The library accepts an
// answer of SNMPv3 without authentication, crashes on other versions, and shortens truncated answers.

export type MessageHeader =
  | { readonly version: 1; readonly community: string; readonly pduType: number }
  | {
      readonly version: 3
      readonly isAuthenticated: boolean
      readonly isEncrypted: boolean
      /** Undefined if it is encrypted. */
      readonly pduType: number | undefined
    }

export const pduType = { response: 0xa2, report: 0xa8 } as const

/** Returns undefined if the datagram is no whole message of SNMPv2c or SNMPv3. */
export function readMessageHeader(datagram: Uint8Array): MessageHeader | undefined {
  const message = readElement(datagram, 0, datagram.length)
  if (message?.tag !== sequence || message.end !== datagram.length) return undefined
  const version = readElement(datagram, message.start, message.end)
  if (version === undefined || version.tag !== integer || version.end - version.start !== 1) return undefined
  const number = datagram[version.start]
  const next = readElement(datagram, version.end, message.end)
  if (next === undefined) return undefined
  if (number === 1) return readCommunity(datagram, next, message.end)
  return number === 3 ? readV3(datagram, next, message.end) : undefined
}

type Element = { readonly tag: number; readonly start: number; readonly end: number }

const [integer, octetString, sequence] = [0x02, 0x04, 0x30]

function readCommunity(datagram: Uint8Array, community: Element, end: number): MessageHeader | undefined {
  const pdu = readElement(datagram, community.end, end)
  if (community.tag !== octetString || pdu === undefined) return undefined
  return {
    version: 1,
    community: Buffer.from(datagram.subarray(community.start, community.end)).toString(),
    pduType: pdu.tag,
  }
}

/** Header: id, largest size, flags, security model; then security parameters, then the PDU with its context or its encryption. */
function readV3(datagram: Uint8Array, header: Element, end: number): MessageHeader | undefined {
  const id = readElement(datagram, header.start, header.end)
  const size = id && readElement(datagram, id.end, header.end)
  const flags = size && readElement(datagram, size.end, header.end)
  const security = readElement(datagram, header.end, end)
  const scoped = security && readElement(datagram, security.end, end)
  if (flags?.tag !== octetString || flags.end - flags.start !== 1 || scoped === undefined) return undefined
  const bits = datagram[flags.start]!
  const isEncrypted = (bits & 2) !== 0
  const engine = isEncrypted ? undefined : readElement(datagram, scoped.start, scoped.end)
  const context = engine && readElement(datagram, engine.end, scoped.end)
  const pdu = context && readElement(datagram, context.end, scoped.end)
  if (!isEncrypted && pdu === undefined) return undefined
  return { version: 3, isAuthenticated: (bits & 1) !== 0, isEncrypted, pduType: pdu?.tag }
}

/** Returns the element at `at`; undefined if it does not end before `limit`. */
function readElement(octets: Uint8Array, at: number, limit: number): Element | undefined {
  if (at + 2 > limit) return undefined
  const first = octets[at + 1]!
  const size = first < 0x80 ? 0 : first - 0x80
  if (size > 4 || first === 0x80 || at + 2 + size > limit) return undefined
  let length = size === 0 ? first : 0
  for (let one = 0; one < size; one++) length = length * 256 + octets[at + 2 + one]!
  const start = at + 2 + size
  return start + length <= limit ? { tag: octets[at]!, start, end: start + length } : undefined
}
