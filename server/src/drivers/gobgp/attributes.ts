// The path attributes of a route as the octets of a BGP UPDATE message, in both directions. It knows the RFCs and
// nothing of GoBGP; attributes that a Route does not have are skipped when they are read.
import type { Route } from '../../byoip/speaker.ts'
import { type Address, familyOf, parseAddress } from '../../net/address.ts'
import { type Bits, type Family, widthOf } from '../../net/bits.ts'
import { formatBits, readBits } from '../../net/bits-text.ts'
import {
  communityFromNumber,
  communityToNumber,
  largeCommunityFromNumbers,
  largeCommunityToNumbers,
  parseCommunity,
  parseLargeCommunity,
} from '../../net/community.ts'
import { type Prefix, parsePrefix, prefixBits } from '../../net/prefix.ts'

/** AFI 1 and 2 (IPv4, IPv6) with SAFI 1 (unicast), IANA's Address Family Numbers. */
export const safiUnicast = 1
export function afiOf(family: Family): number {
  return family === 4 ? 1 : 2
}

// RFC 4271 section 4.3 (flags and types), RFC 1997, RFC 4760, RFC 8092.
const wellKnown = 0x40
const optional = 0x80
const optionalTransitive = 0xc0
const extendedLength = 0x10
const type = { origin: 1, asPath: 2, nextHop: 3, communities: 8, mpReach: 14, largeCommunities: 32 } as const
const originIgp = 0
const asSequence = 2
const segmentMax = 255

export type Attributes = Omit<Route, 'prefix'>

/** Throws with a text for operators on anything that cannot be a route: a next hop of another family, a bad community. */
export function encodeAttributes(prefix: Prefix, attributes: Attributes): Uint8Array[] {
  const nextHop = parseAddress(attributes.nextHop)
  const family = familyOf(prefix)
  if (familyOf(nextHop) !== family)
    throw new TypeError(`the next hop ${nextHop} is not of the prefix's address family`)
  const encoded = [
    attribute(wellKnown, type.origin, [originIgp]),
    attribute(wellKnown, type.asPath, asPathOctets(attributes.asPath)),
    family === 4
      ? attribute(wellKnown, type.nextHop, addressOctets(nextHop))
      : attribute(optional, type.mpReach, mpReachOctets(prefix, nextHop)),
  ]
  const communities = [...new Set(attributes.communities)].map(parseCommunity).map(communityToNumber)
  if (communities.length > 0)
    encoded.push(attribute(optionalTransitive, type.communities, words(communities)))
  const large = [...new Set(attributes.largeCommunities)]
    .map(parseLargeCommunity)
    .flatMap(largeCommunityToNumbers)
  if (large.length > 0) encoded.push(attribute(optionalTransitive, type.largeCommunities, words(large)))
  return encoded
}

/** Throws TypeError where the octets are not what the RFCs say, or where an attribute does not fit into a Route. */
export function decodeAttributes(encoded: readonly Uint8Array[]): Attributes {
  let asPath: number[] = []
  let nextHop = ''
  let communities: string[] = []
  let largeCommunities: string[] = []
  for (const octets of encoded) {
    const value = valueOf(octets)
    if (octets[1] === type.asPath) asPath = readAsPath(value)
    else if (octets[1] === type.nextHop) nextHop = readAddressText(value)
    else if (octets[1] === type.mpReach) nextHop = readMpReachNextHop(value)
    else if (octets[1] === type.communities) communities = readWords(value).map(communityFromNumber)
    else if (octets[1] === type.largeCommunities) largeCommunities = triples(readWords(value))
  }
  return { asPath, nextHop, communities, largeCommunities }
}

/** A prefix as NLRI (RFC 4271 section 4.3): its length, and as many octets of the address as the length needs. */
export function encodeNlri(prefix: Prefix): Uint8Array {
  const bits = prefixBits(prefix)
  const octets = new Uint8Array(1 + Math.ceil(bits.length / 8))
  octets[0] = bits.length
  octets.set(wordOctets(bits).subarray(0, octets.length - 1), 1)
  return octets
}

/** Throws on NLRI with host bits set or of the wrong size. */
export function decodeNlri(octets: Uint8Array, family: Family): Prefix {
  const length = octets[0] ?? 255
  if (length > widthOf(family) || octets.length !== 1 + Math.ceil(length / 8))
    throw new TypeError('not the NLRI of one prefix')
  return parsePrefix(`${addressText(octets.subarray(1), family, length)}/${length}`)
}

function attribute(flags: number, code: number, value: ArrayLike<number>): Uint8Array {
  const long = value.length > 255
  const octets = new Uint8Array((long ? 4 : 3) + value.length)
  octets[0] = long ? flags | extendedLength : flags
  octets[1] = code
  if (long) octets[2] = value.length >>> 8
  octets[long ? 3 : 2] = value.length & 255
  octets.set(value, long ? 4 : 3)
  return octets
}

function valueOf(octets: Uint8Array): Uint8Array {
  const long = ((octets[0] ?? 0) & extendedLength) !== 0
  const start = long ? 4 : 3
  if (octets.length < start) throw new TypeError('a path attribute is cut off')
  const length = long ? octets[2]! * 256 + octets[3]! : octets[2]!
  if (octets.length !== start + length)
    throw new TypeError('a path attribute has another length than it says')
  return octets.subarray(start)
}

/** Segments of at most 255 ASNs of four octets each (RFC 6793): what GoBGP tries first when it reads an AS_PATH. */
function asPathOctets(asPath: readonly number[]): number[] {
  const octets: number[] = []
  for (let start = 0; start < asPath.length; start += segmentMax) {
    const segment = asPath.slice(start, start + segmentMax)
    if (segment.some((asn) => !Number.isInteger(asn) || asn < 1 || asn > 0xffffffff))
      throw new TypeError('an AS path holds numbers from 1 to 4294967295')
    octets.push(asSequence, segment.length, ...words(segment))
  }
  return octets
}

function readAsPath(value: Uint8Array): number[] {
  const asPath: number[] = []
  for (let at = 0; at < value.length;) {
    const end = at + 2 + value[at + 1]! * 4
    if (value[at] !== asSequence || end > value.length) throw new TypeError('not an AS path of sequences')
    asPath.push(...readWords(value.subarray(at + 2, end)))
    at = end
  }
  return asPath
}

/** AFI, SAFI, length of the next hop, next hop, one reserved octet, NLRI (RFC 4760 section 3). */
function mpReachOctets(prefix: Prefix, nextHop: Address): number[] {
  return [0, afiOf(familyOf(prefix)), safiUnicast, 16, ...addressOctets(nextHop), 0, ...encodeNlri(prefix)]
}

/** A link-local next hop may follow the global one (RFC 2545); it is the speaker's own business. */
function readMpReachNextHop(value: Uint8Array): string {
  const length = value[3] ?? 0
  if (value.length < 5 + length) throw new TypeError('MP_REACH_NLRI is cut off')
  return readAddressText(value.subarray(4, 4 + (length === 32 ? 16 : length)))
}

function addressOctets(address: Address): Uint8Array {
  const family = familyOf(address)
  const bits = readBits(address, address.length, family, widthOf(family))
  if (bits === undefined) throw new TypeError('an Address that parseAddress did not make')
  return wordOctets(bits)
}

function wordOctets({ family, w0, w1, w2, w3 }: Bits): Uint8Array {
  return words(family === 4 ? [w0] : [w0, w1, w2, w3])
}

function readAddressText(octets: Uint8Array): string {
  if (octets.length !== 4 && octets.length !== 16) throw new TypeError('a next hop is 4 or 16 octets')
  const family = octets.length === 4 ? 4 : 6
  return addressText(octets, family, widthOf(family))
}

/** The octets may stop early: what is missing is zero. */
function addressText(octets: Uint8Array, family: Family, length: number): string {
  const word = (at: number): number =>
    ((octets[at] ?? 0) << 24) |
    ((octets[at + 1] ?? 0) << 16) |
    ((octets[at + 2] ?? 0) << 8) |
    (octets[at + 3] ?? 0)
  return formatBits({ family, length, w0: word(0), w1: word(4), w2: word(8), w3: word(12) })
}

function words(numbers: readonly number[]): Uint8Array {
  const octets = new Uint8Array(numbers.length * 4)
  const view = new DataView(octets.buffer)
  numbers.forEach((number, at) => view.setUint32(at * 4, number))
  return octets
}

function readWords(octets: Uint8Array): number[] {
  if (octets.length % 4 !== 0) throw new TypeError('a list of 32-bit numbers is cut off')
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length)
  return Array.from({ length: octets.length / 4 }, (_, at) => view.getUint32(at * 4))
}

function triples(numbers: readonly number[]): string[] {
  if (numbers.length % 3 !== 0) throw new TypeError('a list of large communities is cut off')
  return Array.from({ length: numbers.length / 3 }, (_, at) =>
    largeCommunityFromNumbers([numbers[at * 3]!, numbers[at * 3 + 1]!, numbers[at * 3 + 2]!]),
  )
}
