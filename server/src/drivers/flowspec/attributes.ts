// The path attributes of a FlowSpec rule as the octets of a BGP UPDATE message, in both directions: the action as extended communities
// (RFC 8955 section 7, RFC 7674), and large communities (RFC 8092) that mark owner, list and rule.
import type { FilterAction } from '../../net/filter-rule.ts'

/** SAFI of FlowSpec (RFC 8955 section 4); the AFI depends on the addresses. */
export const safiFlowspec = 133

const type = { origin: 1, asPath: 2, mpReach: 14, extendedCommunities: 16, largeCommunities: 32 } as const
const wellKnown = 0x40
const optional = 0x80
const optionalTransitive = 0xc0
const extendedLength = 0x10

/** Traffic-rate-bytes and traffic-rate-packets: two octets of an AS, and a rate as float32. */
const rateBytes = 0x8006
const ratePackets = 0x800c

export type LargeCommunityWords = readonly [number, number, number]

/** `large`: communities as three 32-bit words each. */
export type FlowspecAttributes = {
  readonly action: FilterAction
  readonly large: readonly LargeCommunityWords[]
}

/** The NLRI is in the attribute too, as GoBGP expects it, with the next hop that its version needs. */
export function encodeFlowspecAttributes(
  { action, large }: FlowspecAttributes,
  nlri: Uint8Array,
  afi: number,
  nextHop: readonly number[],
): Uint8Array[] {
  const attributes = [
    attribute(wellKnown, type.origin, [0]),
    attribute(wellKnown, type.asPath, []),
    attribute(optional, type.mpReach, reachOctets(nlri, afi, nextHop)),
  ]
  const community = actionOctets(action)
  if (community) attributes.push(attribute(optionalTransitive, type.extendedCommunities, community))
  if (large.length > 0)
    attributes.push(attribute(optionalTransitive, type.largeCommunities, large.flat().flatMap(wordOctets)))
  return attributes
}

/** The value of MP_REACH_NLRI (RFC 4760 section 3). */
export function reachOctets(nlri: Uint8Array, afi: number, nextHop: readonly number[]): number[] {
  return [0, afi, safiFlowspec, nextHop.length, ...nextHop, 0, ...nlri]
}

/** Throws TypeError if the octets violate the RFCs, or if they have another action than a FilterAction. */
export function decodeFlowspecAttributes(encoded: readonly Uint8Array[]): FlowspecAttributes {
  let action: FilterAction = { kind: 'allow' }
  let large: LargeCommunityWords[] = []
  for (const octets of encoded) {
    const value = valueOf(octets)
    if (octets[1] === type.extendedCommunities) action = readAction(value)
    else if (octets[1] === type.largeCommunities) large = readLarge(value)
  }
  return { action, large }
}

/** Accepted packets have no community: then the first match ends the evaluation, unless traffic-action changes it. */
function actionOctets(action: FilterAction): number[] | undefined {
  if (action.kind === 'allow') return undefined
  if (action.kind === 'deny') return rateOctets(rateBytes, 0)
  return 'bps' in action ? rateOctets(rateBytes, action.bps / 8) : rateOctets(ratePackets, action.pps)
}

function rateOctets(code: number, rate: number): number[] {
  const view = new DataView(new ArrayBuffer(8))
  view.setUint16(0, code)
  view.setFloat32(4, rate)
  return [...new Uint8Array(view.buffer)]
}

function readAction(value: Uint8Array): FilterAction {
  if (value.length !== 8) throw new TypeError('not one extended community')
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  const rate = view.getFloat32(4)
  if (!Number.isFinite(rate) || rate < 0) throw new TypeError('a rate that is not a number')
  const code = view.getUint16(0)
  if (code !== rateBytes && code !== ratePackets) throw new TypeError('an action other than a rate')
  if (rate === 0) return { kind: 'deny' }
  return code === rateBytes ? { kind: 'rate_limit', bps: rate * 8 } : { kind: 'rate_limit', pps: rate }
}

function readLarge(value: Uint8Array): LargeCommunityWords[] {
  if (value.length % 12 !== 0) throw new TypeError('a list of large communities is cut off')
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  return Array.from({ length: value.length / 12 }, (_, at): LargeCommunityWords => [
    view.getUint32(at * 12),
    view.getUint32(at * 12 + 4),
    view.getUint32(at * 12 + 8),
  ])
}

function attribute(flags: number, code: number, value: readonly number[]): Uint8Array {
  const { length } = value
  return length > 255
    ? Uint8Array.of(flags | extendedLength, code, length >>> 8, length & 255, ...value)
    : Uint8Array.of(flags, code, length, ...value)
}

function valueOf(octets: Uint8Array): Uint8Array {
  const isLong = ((octets[0] ?? 0) & extendedLength) !== 0
  const start = isLong ? 4 : 3
  if (octets.length < start) throw new TypeError('a path attribute is cut off')
  const length = isLong ? octets[2]! * 256 + octets[3]! : octets[2]!
  if (octets.length !== start + length)
    throw new TypeError('the length of a path attribute does not match its content')
  return octets.subarray(start)
}

function wordOctets(word: number): number[] {
  return [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]
}
