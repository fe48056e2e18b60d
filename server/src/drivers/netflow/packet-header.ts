// The first octets of a packet, from sFlow samples and IPFIX sections: Ethernet, VLAN tags, MPLS, PPPoE, then IPv4 or
// IPv6 and the ports. A header that is cut after the addresses gives a flow without ports.

/** The values of the last packet that was parsed; one object for all of them. */
export type PacketHeader = {
  /** 4 or 6. */
  family: number
  /** Four words each, as in FlowColumns. */
  readonly src: Uint32Array
  readonly dst: Uint32Array
  protocol: number
  srcPort: number
  dstPort: number
  tcpFlags: number
  dscp: number
  fragment: number
  /** Octets from the IP header on; 0 if it does not state them: jumbograms, and packets that a host has not yet cut. */
  ipLength: number
}

export function createPacketHeader(): PacketHeader {
  return {
    family: 0,
    src: new Uint32Array(4),
    dst: new Uint32Array(4),
    protocol: 0,
    srcPort: 0,
    dstPort: 0,
    tcpFlags: 0,
    dscp: 0,
    fragment: 0,
    ipLength: 0,
  }
}

/** Values of `header_protocol` of sFlow v5. */
export const headerProtocol = { ethernet: 1, ppp: 7, ipv4: 11, ipv6: 12, mpls: 13, pos: 14 } as const

/** Frames inside of the labels of one packet that were looked at: each may contain labels again. */
let innerFrames = 0
const innerFramesMax = 4

/** Parses `octets[at, end)` into `into`. Returns false if there is no IP packet with both addresses. */
export function parsePacket(
  octets: Uint8Array,
  at: number,
  end: number,
  protocol: number,
  into: PacketHeader,
): boolean {
  innerFrames = 0
  switch (protocol) {
    case headerProtocol.ethernet:
      return parseEthernet(octets, at, end, into)
    case headerProtocol.ppp:
    case headerProtocol.pos:
      return parsePpp(octets, at, end, into)
    case headerProtocol.ipv4:
    case headerProtocol.ipv6:
      return parseIp(octets, at, end, into)
    case headerProtocol.mpls:
      return parseMpls(octets, at, end, into)
    default:
      return false
  }
}

const u16 = (octets: Uint8Array, at: number): number => (octets[at]! << 8) | octets[at + 1]!
const u32 = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0

function parseEthernet(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  let next = at + 12
  while (next + 2 <= end) {
    const type = u16(octets, next)
    // 802.1Q, 802.1ad and the value that was used for QinQ before it.
    if (type === 0x8100 || type === 0x88_a8 || type === 0x9100 || type === 0x9200) next += 4
    else return parseType(octets, next + 2, end, type, into)
  }
  return false
}

function parseType(octets: Uint8Array, at: number, end: number, type: number, into: PacketHeader): boolean {
  switch (type) {
    case 0x0800:
    case 0x86_dd:
      return parseIp(octets, at, end, into)
    case 0x8847:
    case 0x8848:
      return parseMpls(octets, at, end, into)
    // PPPoE session: version, code, session and length before the PPP protocol.
    case 0x8864:
      return at + 8 <= end && parsePppType(octets, at + 8, end, u16(octets, at + 6), into)
    default:
      return type < 0x0600 && parseSnap(octets, at, end, into)
  }
}

/** 802.3 with LLC and SNAP (RFC 1042): AA AA 03, three octets of organisation, the type. */
function parseSnap(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  if (at + 8 > end || u16(octets, at) !== 0xaa_aa || octets[at + 2] !== 3 || u32(octets, at + 2) << 8 !== 0)
    return false
  const type = u16(octets, at + 6)
  return type >= 0x0600 && parseType(octets, at + 8, end, type, into)
}

function parsePpp(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  const start = at + 2 <= end && u16(octets, at) === 0xff_03 ? at + 2 : at
  return start + 2 <= end && parsePppType(octets, start + 2, end, u16(octets, start), into)
}

function parsePppType(
  octets: Uint8Array,
  at: number,
  end: number,
  type: number,
  into: PacketHeader,
): boolean {
  if (type === 0x0021 || type === 0x0057) return parseIp(octets, at, end, into)
  return (type === 0x0281 || type === 0x0283) && parseMpls(octets, at, end, into)
}

/**
 * The label stack names no type: the first nibble after it decides, as routers do for load sharing. 0 is a pseudowire's control word
 * (RFC 4385); a pseudowire without one begins with any address, also with that nibble.
 */
function parseMpls(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  let next = at
  while (next + 4 <= end) {
    const isBottom = (octets[next + 2]! & 1) === 1
    next += 4
    if (!isBottom) continue
    if (next >= end) return false
    const nibble = octets[next]! >> 4
    if (nibble === 4 || nibble === 6) return parseIp(octets, next, end, into)
    return (nibble === 0 && parseInner(octets, next + 4, end, into)) || parseInner(octets, next, end, into)
  }
  return false
}

function parseInner(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  return innerFrames++ < innerFramesMax && parseEthernet(octets, at, end, into)
}

function parseIp(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  if (at >= end) return false
  const version = octets[at]! >> 4
  if (version === 4) return parseIpv4(octets, at, end, into)
  return version === 6 && parseIpv6(octets, at, end, into)
}

function parseIpv4(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  const headerLength = (octets[at]! & 0x0f) * 4
  if (at + 20 > end || headerLength < 20) return false
  into.family = 4
  into.src[0] = into.src[1] = into.dst[0] = into.dst[1] = 0
  into.src[2] = into.dst[2] = 0xff_ff
  into.src[3] = u32(octets, at + 12)
  into.dst[3] = u32(octets, at + 16)
  into.dscp = octets[at + 1]! >> 2
  into.ipLength = u16(octets, at + 2)
  const fragment = u16(octets, at + 6)
  into.fragment = (fragment & 0x3f_ff) === 0 ? 0 : 1
  parseTransport(octets, at + headerLength, end, octets[at + 9]!, (fragment & 0x1f_ff) === 0, into)
  return true
}

function parseIpv6(octets: Uint8Array, at: number, end: number, into: PacketHeader): boolean {
  if (at + 40 > end) return false
  into.family = 6
  for (let word = 0; word < 4; word++) {
    into.src[word] = u32(octets, at + 8 + word * 4)
    into.dst[word] = u32(octets, at + 24 + word * 4)
  }
  into.dscp = (u16(octets, at) >> 6) & 0x3f
  const payload = u16(octets, at + 4)
  into.ipLength = payload === 0 ? 0 : payload + 40
  into.fragment = 0
  let protocol = octets[at + 6]!
  let next = at + 40
  let isFirst = true
  // Extension headers: each is at least 8 octets, so the loop ends with the header.
  while (next + 8 <= end) {
    if (protocol === 0 || protocol === 43 || protocol === 60 || protocol === 135) {
      protocol = octets[next]!
      next += (octets[next + 1]! + 1) * 8
    } else if (protocol === 51) {
      protocol = octets[next]!
      next += (octets[next + 1]! + 2) * 4
    } else if (protocol === 44) {
      const fragment = u16(octets, next + 2)
      into.fragment = 1
      isFirst = fragment >> 3 === 0
      protocol = octets[next]!
      next += 8
      if (!isFirst) break
    } else break
  }
  parseTransport(octets, next, end, protocol, isFirst, into)
  return true
}

/** Only the first fragment has ports. */
function parseTransport(
  octets: Uint8Array,
  at: number,
  end: number,
  protocol: number,
  isFirst: boolean,
  into: PacketHeader,
): void {
  into.protocol = protocol
  into.srcPort = into.dstPort = into.tcpFlags = 0
  if (!isFirst) return
  if (protocol === 1 || protocol === 58) {
    if (at + 2 <= end) into.dstPort = u16(octets, at)
  } else if (protocol === 6 || protocol === 17 || protocol === 132 || protocol === 33 || protocol === 136) {
    if (at + 4 > end) return
    into.srcPort = u16(octets, at)
    into.dstPort = u16(octets, at + 2)
    if (protocol === 6 && at + 14 <= end) into.tcpFlags = octets[at + 13]!
  }
}
