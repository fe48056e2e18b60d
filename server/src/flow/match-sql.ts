// The conditions of a rule as SQL over single flows. Numbers are written as integers that this code has checked; networks are
// parameters. Pure.
import { protocolNumbers, tcpFlagBits, type FlowMatch, type TcpFlags } from '../net/flow-match.ts'
import type { Prefix } from '../net/prefix.ts'
import { includesNumber, overlapRanges, type Ranges } from '../net/ranges.ts'
import { withinCondition } from './flow-key.ts'
import type { Param } from './flow-store.ts'

type Bind = (type: string, value: Param) => string

/** Only the mean length of a flow's packets is known. */
export const meanLength = 'intDiv(bytes, greatest(packets, 1))'

/** Collectors store type and code of ICMP as the destination port, as NetFlow v5 does. */
const icmpType = 'intDiv(dst_port, 256)'
const icmpCode = 'dst_port % 256'

/**
 * Returns the condition that a flow consists of packets that meet the match, as far as a flow shows. `selected`: all flows are towards
 * this network.
 */
export function matchCondition(match: FlowMatch, bind: Bind, selected?: Prefix): string {
  const { destination, source, tcpFlags, fragment } = match
  const conditions = [
    destination !== selected && withinCondition('dst_addr', destination, bind),
    source && withinCondition('src_addr', source, bind),
    inRanges('protocol', match.protocol),
    inRanges('src_port', match.sourcePort),
    inRanges('dst_port', match.destinationPort),
    inRanges(icmpType, match.icmpType),
    inRanges(icmpCode, match.icmpCode),
    inRanges(meanLength, match.packetLength),
    inRanges('dscp', match.dscp),
    tcpFlags && hasFlags(tcpFlags),
    fragment === undefined ? undefined : `fragment ${fragment ? '!=' : '='} 0`,
  ]
  return conditions.filter(Boolean).join(' and ') || 'true'
}

const { syn, ack, rst } = tcpFlagBits
/**
 * Lengths of packets that open a connection: 20 octets of IPv4 or 40 of IPv6, 20 of TCP, and options. Every SYN has
 * options.
 */
const openingLengths: Ranges = [[44, 80]]
/** Lengths of acknowledgements without data, which every connection has whatever its mean length is. */
const bareLengths: Ranges = [[40, 80]]

/**
 * Returns the condition that a rule concerns a normal flow: some of its packets match, or might match. A flow has the
 * flags of all its packets together and their mean length, so that no connection seems to match `syn,!ack`, and every
 * one does.
 *
 * - A match on SYN concerns every connection, whatever flags its samples have, unless its lengths exclude all opening
 *   packets: then connections with SYN and such a mean length.
 * - Other flags may be set in single packets of a flow that has them: flags that must not be set are ignored.
 * - A length of bare acknowledgements concerns every TCP flow, except in a match on RST, which ends a connection.
 */
export function usualCondition(match: FlowMatch, bind: Bind, selected?: Prefix): string {
  return joined([restCondition(match, bind, selected), usualPart(match)])
}

/**
 * Returns the condition that a flow meets the match, or, if `isUsual` is true, that a rule concerns it. Common parts
 * are written once.
 */
export function concernedCondition(match: FlowMatch, isUsual: string, bind: Bind, selected?: Prefix): string {
  if (!match.tcpFlags && !match.packetLength) return matchCondition(match, bind, selected)
  const exact = joined([match.tcpFlags && hasFlags(match.tcpFlags), inRanges(meanLength, match.packetLength)])
  return joined([
    restCondition(match, bind, selected),
    `((${exact}) or (${isUsual} and (${usualPart(match) ?? 'true'})))`,
  ])
}

const joined = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined).join(' and ') || 'true'

/** Without the flags and the lengths. */
const restCondition = (
  { tcpFlags: _f, packetLength: _l, ...rest }: FlowMatch,
  bind: Bind,
  selected?: Prefix,
) => matchCondition(rest, bind, selected)

/** The flags and the lengths of flows that work; undefined: any. */
function usualPart(match: FlowMatch): string | undefined {
  const { tcpFlags, packetLength } = match
  const isShort = (lengths: Ranges): boolean =>
    packetLength === undefined || overlapRanges(packetLength, lengths)
  const hasLength = inRanges(meanLength, packetLength)
  if (tcpFlags) {
    const isSet = hasFlags({ set: tcpFlags.set, unset: 0 })
    if (isOpening(match)) return isShort(openingLengths) ? undefined : joined([isSet, hasLength])
    return isShort(bareLengths) && !(tcpFlags.set & rst) ? isSet : joined([isSet, hasLength])
  }
  const mayBeTcp = match.protocol === undefined || includesNumber(match.protocol, protocolNumbers.tcp)
  if (packetLength === undefined || !mayBeTcp || !isShort(bareLengths)) return hasLength
  return `(protocol = ${protocolNumbers.tcp} or ${hasLength})`
}

/** Whether the match is on packets that open a TCP connection. */
export const isOpening = ({ tcpFlags }: Pick<FlowMatch, 'tcpFlags'>): boolean =>
  tcpFlags !== undefined && (tcpFlags.set & syn) !== 0

/** Packets of a flow that open a connection, before scaling: one if the flow continued. */
export const openingPackets = `multiIf(bitAnd(tcp_flags, ${syn}) = 0, 0, bitAnd(tcp_flags, ${ack}) != 0, 1, packets)`

/** A condition each is faster, up to this number. */
const spansMax = 8

function inRanges(column: string, ranges: Ranges | undefined): string | undefined {
  if (!ranges) return undefined
  const singles = ranges.filter(([first, last]) => first === last).map(([first]) => integer(first))
  const spans = ranges.filter(([first, last]) => first !== last)
  const [firsts, lasts] = [0, 1].map((at) => spans.map((span) => integer(span[at]!)).join(', '))
  // A list of many ranges as arrays: a condition each would make the statement longer than ClickHouse reads.
  const conditions = [
    singles.length > 0 && `${column} in (${singles.join(', ')})`,
    spans.length <= spansMax &&
      spans.map(([first, last]) => `${column} between ${integer(first)} and ${integer(last)}`).join(' or '),
    spans.length > spansMax && `arrayExists((a, b) -> ${column} between a and b, [${firsts}], [${lasts}])`,
  ].filter(Boolean)
  return `(${conditions.join(' or ') || 'false'})`
}

const hasFlags = ({ set, unset }: TcpFlags): string =>
  `bitAnd(tcp_flags, ${integer(set)}) = ${integer(set)} and bitAnd(tcp_flags, ${integer(unset)}) = 0`

/** Returns the digits of a whole number; anything else is a defect, and never part of a statement. */
export function integer(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number: ${value}`)
  return String(value)
}
