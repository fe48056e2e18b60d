// The conditions of a filter rule on a packet, in canonical form, with the set operations on them: the common part of
// FlowSpec (RFC 8955, 8956) and packet filters. It knows no action, no order and no wire format.
import type { Family } from './bits.ts'
import { covers, overlaps, type Prefix } from './prefix.ts'
import {
  coversRanges,
  formatRanges,
  includesNumber,
  intersectRanges,
  overlapRanges,
  type Ranges,
} from './ranges.ts'

/** Bits of the TCP header's 13th octet (RFC 9293, RFC 3168): all of `set` are 1 and all of `unset` are 0. */
export type TcpFlags = { readonly set: number; readonly unset: number }

/**
 * A packet meets all conditions; an absent one accepts every packet. Ports are TCP and UDP ports, and a match on them
 * or on flags or ICMP types names the protocols too, so that intersections are exact. Only the first fragment of a
 * packet has ports, flags and types.
 */
export type FlowMatch = {
  readonly destination: Prefix
  /** Same family as the destination. */
  readonly source?: Prefix
  /** Protocol of IPv4, or the last next header of IPv6. */
  readonly protocol?: Ranges
  readonly sourcePort?: Ranges
  readonly destinationPort?: Ranges
  /** Types of ICMP (IPv4) or ICMPv6: the numbers differ. */
  readonly icmpType?: Ranges
  readonly icmpCode?: Ranges
  readonly tcpFlags?: TcpFlags
  /** Octets of the IP packet with its header. */
  readonly packetLength?: Ranges
  readonly dscp?: Ranges
  /** Whether the packet is a fragment, the first one included. */
  readonly fragment?: boolean
}

/** The conditions that are sets of numbers. */
export const rangeConditions = [
  'protocol',
  'sourcePort',
  'destinationPort',
  'icmpType',
  'icmpCode',
  'packetLength',
  'dscp',
] as const

/** The largest number of each condition. */
export const rangeMax = {
  protocol: 255,
  sourcePort: 65_535,
  destinationPort: 65_535,
  icmpType: 255,
  icmpCode: 255,
  packetLength: 65_535,
  dscp: 63,
} as const satisfies Record<(typeof rangeConditions)[number], number>

/** By name, in the order of their bits. */
export const tcpFlagBits = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ece: 64, cwr: 128 } as const

/** IANA's Assigned Internet Protocol Numbers. */
export const protocolNumbers = { icmp: 1, tcp: 6, udp: 17, gre: 47, esp: 50, ah: 51, icmp6: 58 } as const

export function icmpOf(family: Family): number {
  return family === 4 ? protocolNumbers.icmp : protocolNumbers.icmp6
}

/** Returns the packets that meet both; undefined if the intersection is empty. */
export function intersectMatches(a: FlowMatch, b: FlowMatch): FlowMatch | undefined {
  const destination = narrower(a.destination, b.destination)
  if (!destination) return undefined
  const common: { -readonly [Key in keyof FlowMatch]: FlowMatch[Key] } = { destination }
  if (a.source && b.source) {
    const source = narrower(a.source, b.source)
    if (!source) return undefined
    common.source = source
  } else if (a.source ?? b.source) common.source = (a.source ?? b.source)!
  for (const name of rangeConditions) {
    const x = a[name]
    const y = b[name]
    const ranges = x && y ? intersectRanges(x, y) : (x ?? y)
    if (ranges) common[name] = ranges
    else if (x && y) return undefined
  }
  if (a.tcpFlags ?? b.tcpFlags) {
    const set = (a.tcpFlags?.set ?? 0) | (b.tcpFlags?.set ?? 0)
    const unset = (a.tcpFlags?.unset ?? 0) | (b.tcpFlags?.unset ?? 0)
    if ((set & unset) !== 0) return undefined
    common.tcpFlags = { set, unset }
  }
  if (a.fragment !== undefined && b.fragment !== undefined && a.fragment !== b.fragment) return undefined
  const fragment = a.fragment ?? b.fragment
  if (fragment !== undefined) common.fragment = fragment
  return common
}

/** Whether a packet can meet both: `intersectMatches` without the result, for comparisons by the million. */
export function overlapMatches(a: FlowMatch, b: FlowMatch): boolean {
  for (const name of rangeConditions) {
    const x = a[name]
    const y = b[name]
    if (x && y && !overlapRanges(x, y)) return false
  }
  if (a.tcpFlags && b.tcpFlags) {
    const { set, unset } = a.tcpFlags
    if ((set & b.tcpFlags.unset) !== 0 || (b.tcpFlags.set & unset) !== 0) return false
  }
  if (a.fragment !== undefined && b.fragment !== undefined && a.fragment !== b.fragment) return false
  return (
    overlaps(a.destination, b.destination) &&
    (a.source === undefined || b.source === undefined || overlaps(a.source, b.source))
  )
}

/** Whether every packet that meets `inner` meets `outer`. */
export function coversMatch(outer: FlowMatch, inner: FlowMatch): boolean {
  if (!covers(outer.destination, inner.destination)) return false
  if (outer.source && !(inner.source ? covers(outer.source, inner.source) : isEverything(outer.source)))
    return false
  for (const name of rangeConditions) {
    const ranges = outer[name]
    if (ranges && !coversRanges(ranges, inner[name] ?? allOf(name))) return false
  }
  if (outer.tcpFlags) {
    const { set, unset } = inner.tcpFlags ?? { set: 0, unset: 0 }
    if ((outer.tcpFlags.set & ~set) !== 0 || (outer.tcpFlags.unset & ~unset) !== 0) return false
  }
  return outer.fragment === undefined || outer.fragment === inner.fragment
}

/** Returns the packets as two matches, by the halves of the longest set of numbers; undefined if every set is one range. */
export function halvesOfMatch(match: FlowMatch): readonly [FlowMatch, FlowMatch] | undefined {
  const [longest] = rangeConditions.toSorted((a, b) => (match[b]?.length ?? 0) - (match[a]?.length ?? 0))
  const ranges = match[longest!]
  if (!ranges || ranges.length < 2) return undefined
  const middle = ranges.length >>> 1
  return [
    { ...match, [longest!]: ranges.slice(0, middle) },
    { ...match, [longest!]: ranges.slice(middle) },
  ]
}

/** Returns a text that is equal for equal conditions. */
export function matchText(match: FlowMatch): string {
  const parts = [`destination ${match.destination}`]
  if (match.source) parts.push(`source ${match.source}`)
  for (const name of rangeConditions) {
    const ranges = match[name]
    if (ranges) parts.push(`${name} ${formatRanges(ranges)}`)
  }
  if (match.tcpFlags) parts.push(`tcpFlags ${match.tcpFlags.set}/${match.tcpFlags.unset}`)
  if (match.fragment !== undefined) parts.push(`fragment ${match.fragment}`)
  return parts.join(' ')
}

/** The fields of a packet that a match reads. Ports, flags and types are absent in later fragments and other protocols. */
export type FlowPacket = {
  /** The /32 or /128 of each address. */
  readonly source: Prefix
  readonly destination: Prefix
  readonly protocol: number
  readonly sourcePort?: number
  readonly destinationPort?: number
  readonly icmpType?: number
  readonly icmpCode?: number
  readonly tcpFlags?: number
  readonly packetLength: number
  readonly dscp: number
  readonly fragment: boolean
}

export function matchesPacket(match: FlowMatch, packet: FlowPacket): boolean {
  if (!covers(match.destination, packet.destination)) return false
  if (match.source && !covers(match.source, packet.source)) return false
  for (const name of rangeConditions) {
    const ranges = match[name]
    const value = packet[name]
    if (ranges && (value === undefined || !includesNumber(ranges, value))) return false
  }
  if (match.tcpFlags) {
    const { set, unset } = match.tcpFlags
    if (packet.tcpFlags === undefined) return false
    if ((packet.tcpFlags & set) !== set || (packet.tcpFlags & unset) !== 0) return false
  }
  return match.fragment === undefined || match.fragment === packet.fragment
}

/** Every packet has a protocol, a length and a DSCP; without a condition on them, a packet may have no port, type or code. */
function allOf(name: (typeof rangeConditions)[number]): Ranges {
  const max = name === 'protocol' || name === 'packetLength' || name === 'dscp' ? rangeMax[name] : Infinity
  return [[0, max]]
}

function narrower(a: Prefix, b: Prefix): Prefix | undefined {
  if (covers(a, b)) return b
  return covers(b, a) ? a : undefined
}

function isEverything(prefix: Prefix): boolean {
  return prefix.endsWith('/0')
}
