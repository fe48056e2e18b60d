// The conditions of a rule as SQL over single flows. Numbers are written as integers that this code has checked; networks are
// parameters. Pure.
import type { FlowMatch, TcpFlags } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Ranges } from '../../net/ranges.ts'
import { withinCondition } from './flow-key.ts'
import type { Param } from './flow-store.ts'

type Bind = (type: string, value: Param) => string

/** Of the packets of a flow only the mean length is known. */
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
