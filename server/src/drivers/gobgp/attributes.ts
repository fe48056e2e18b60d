// The path attributes of a route as the octets of a BGP UPDATE message, in both directions. It implements the RFCs and does not
// depend on GoBGP; attributes that a Route does not have are skipped when decoding.
import type { Route } from '../../byoip/regions/speaker.ts'
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
const asSet = 1
const asSequence = 2
const segmentMax = 255

export type Attributes = Omit<Route, 'prefix'>

/** Throws with a text for operators on an invalid route: a next hop of another family, an invalid community. */
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
  const communities = communityOctets(attributes.communities)
  if (communities.length > 0) encoded.push(attribute(optionalTransitive, type.communities, communities))
  const large = largeCommunityOctets(attributes.largeCommunities)
  if (large.length > 0) encoded.push(attribute(optionalTransitive, type.largeCommunities, large))
  return encoded
}

/** Throws TypeError if the octets violate the RFCs, or if an attribute does not fit into a Route. */
export function decodeAttributes(encoded: readonly Uint8Array[]): Attributes {
  let asPath: number[] = []
  let nextHop = ''
  let communities: string[] = []
  let largeCommunities: string[] = []
  for (const octets of encoded) {
    const start = valueStart(octets)
    if (octets[1] === type.asPath) asPath = readAsPath(octets, start)
    else if (octets[1] === type.nextHop) nextHop = readAddressText(octets, start, octets.length)
    else if (octets[1] === type.mpReach) nextHop = readMpReachNextHop(octets, start)
    else if (octets[1] === type.communities)
      communities = readWords(octets, start, octets.length).map(communityFromNumber)
    else if (octets[1] === type.largeCommunities)
      largeCommunities = triples(readWords(octets, start, octets.length))
  }
  return { asPath, nextHop, communities, largeCommunities }
}

/** Returns the last ASN of the AS path, 0 if it ends in a set, null if it is empty. Confederations (RFC 5065) do not count. */
export function decodePathOrigin(encoded: readonly Uint8Array[]): number | null {
  const octets = encoded.find((attribute) => attribute[1] === type.asPath)
  if (!octets) return null
  let origin: number | null = null
  for (const { kind, asns } of readSegments(octets, valueStart(octets))) {
    if (kind === asSequence) origin = asns.at(-1) ?? origin
    else if (kind === asSet) origin = 0
  }
  return origin
}

/** A prefix as NLRI (RFC 4271 section 4.3): its length, and as many octets of the address as the length needs. */
export function encodeNlri(prefix: Prefix): Uint8Array {
  return new Uint8Array(nlriOctets(prefix))
}

/** Throws on NLRI with host bits set or of the wrong size. */
export function decodeNlri(octets: Uint8Array, family: Family): Prefix {
  const length = octets[0] ?? 255
  if (length > widthOf(family) || octets.length !== 1 + octetsOf(length))
    throw new TypeError('not the NLRI of one prefix')
  return parsePrefix(`${addressText(octets, 1, family)}/${length}`)
}

// Octets are collected in plain arrays and become one typed array at the end: many small typed arrays are slow.

function attribute(flags: number, code: number, value: readonly number[]): Uint8Array {
  const { length } = value
  const head =
    length > 255 ? [flags | extendedLength, code, length >>> 8, length & 255] : [flags, code, length]
  return new Uint8Array(head.concat(value))
}

/** Returns the offset of an attribute's value; it ends where the octets end. */
function valueStart(octets: Uint8Array): number {
  const isLong = ((octets[0] ?? 0) & extendedLength) !== 0
  const start = isLong ? 4 : 3
  if (octets.length < start) throw new TypeError('a path attribute is cut off')
  const length = isLong ? octets[2]! * 256 + octets[3]! : octets[2]!
  if (octets.length !== start + length)
    throw new TypeError('the length of a path attribute does not match its content')
  return start
}

/** Segments of at most 255 ASNs of four octets each (RFC 6793), the form that GoBGP tries first when it decodes an AS_PATH. */
function asPathOctets(asPath: readonly number[]): number[] {
  const octets: number[] = []
  for (let start = 0; start < asPath.length; start += segmentMax) {
    const segment = asPath.slice(start, start + segmentMax)
    octets.push(asSequence, segment.length)
    for (const asn of segment) {
      if (asn < 1 || asn !== asn >>> 0) throw new TypeError('an AS path holds numbers from 1 to 4294967295')
      pushWord(octets, asn)
    }
  }
  return octets
}

function readAsPath(octets: Uint8Array, start: number): number[] {
  return readSegments(octets, start).flatMap(({ kind, asns }) => {
    if (kind !== asSequence) throw new TypeError('not an AS path of sequences')
    return asns
  })
}

function readSegments(octets: Uint8Array, start: number) {
  const segments: { readonly kind: number; readonly asns: readonly number[] }[] = []
  for (let at = start; at < octets.length;) {
    const end = at + 2 + (octets[at + 1] ?? 0) * 4
    if (end > octets.length) throw new TypeError('an AS path is cut off')
    segments.push({ kind: octets[at]!, asns: readWords(octets, at + 2, end) })
    at = end
  }
  return segments
}

/** AFI, SAFI, length of the next hop, next hop, one reserved octet, NLRI (RFC 4760 section 3). */
function mpReachOctets(prefix: Prefix, nextHop: Address): number[] {
  return [0, afiOf(familyOf(prefix)), safiUnicast, 16].concat(addressOctets(nextHop), 0, nlriOctets(prefix))
}

/** A link-local next hop may follow the global one (RFC 2545); it is ignored. */
function readMpReachNextHop(octets: Uint8Array, start: number): string {
  const length = octets[start + 3] ?? 0
  const at = start + 4
  if (octets.length < at + length + 1) throw new TypeError('MP_REACH_NLRI is cut off')
  return readAddressText(octets, at, at + (length === 32 ? 16 : length))
}

function communityOctets(communities: readonly string[]): number[] {
  const octets: number[] = []
  for (const community of new Set(communities)) pushWord(octets, communityToNumber(parseCommunity(community)))
  return octets
}

function largeCommunityOctets(communities: readonly string[]): number[] {
  const octets: number[] = []
  for (const community of new Set(communities))
    for (const number of largeCommunityToNumbers(parseLargeCommunity(community))) pushWord(octets, number)
  return octets
}

function nlriOctets(prefix: Prefix): number[] {
  const bits = prefixBits(prefix)
  return [bits.length].concat(wordOctets(bits).slice(0, octetsOf(bits.length)))
}

function octetsOf(prefixLength: number): number {
  return (prefixLength + 7) >>> 3
}

function addressOctets(address: Address): number[] {
  const family = familyOf(address)
  const bits = readBits(address, address.length, family, widthOf(family))
  if (bits === undefined) throw new TypeError('not an Address of parseAddress')
  return wordOctets(bits)
}

function wordOctets({ family, w0, w1, w2, w3 }: Bits): number[] {
  const octets: number[] = []
  for (const word of family === 4 ? [w0] : [w0, w1, w2, w3]) pushWord(octets, word)
  return octets
}

function readAddressText(octets: Uint8Array, start: number, end: number): string {
  if (end - start !== 4 && end - start !== 16) throw new TypeError('a next hop is 4 or 16 octets')
  return addressText(octets.subarray(0, end), start, end - start === 4 ? 4 : 6)
}

/** Missing octets at the end are zero. */
function addressText(octets: Uint8Array, start: number, family: Family): string {
  const word = (at: number): number => readWord(octets, start + at)
  return formatBits({ family, length: widthOf(family), w0: word(0), w1: word(4), w2: word(8), w3: word(12) })
}

function pushWord(octets: number[], word: number): void {
  octets.push(word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255)
}

function readWord(octets: Uint8Array, at: number): number {
  const high = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0)
  return (high << 16) | ((octets[at + 2] ?? 0) << 8) | (octets[at + 3] ?? 0)
}

function readWords(octets: Uint8Array, start: number, end: number): number[] {
  if ((end - start) % 4 !== 0) throw new TypeError('a list of 32-bit numbers is cut off')
  const words: number[] = []
  for (let at = start; at < end; at += 4) words.push(readWord(octets, at) >>> 0)
  return words
}

function triples(numbers: readonly number[]): string[] {
  if (numbers.length % 3 !== 0) throw new TypeError('a list of large communities is cut off')
  const communities: string[] = []
  for (let at = 0; at < numbers.length; at += 3)
    communities.push(largeCommunityFromNumbers([numbers[at]!, numbers[at + 1]!, numbers[at + 2]!]))
  return communities
}
