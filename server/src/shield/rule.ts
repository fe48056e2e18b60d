// A rule of shield in the vocabulary of the contract, and its parse into the canonical conditions that scrubbers apply.
// Independent of order, limits and teams. The fields map to FlowSpec (RFC 8955, RFC 8956), so that any router can apply
// them.
import type { ShieldRule } from '@pharos/contract/shield/shield'
import { familyOf } from '../net/address.ts'
import type { Family } from '../net/bits.ts'
import type { FilterAction } from '../net/filter-rule.ts'
import {
  type FlowMatch,
  icmpOf,
  protocolNumbers,
  rangeMax,
  type TcpFlags,
  tcpFlagBits,
} from '../net/flow-match.ts'
import { covers, parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { coversRanges, type Ranges, readRanges } from '../net/ranges.ts'

/** The conditions of a rule in the API: absent, null and `any` match every packet. */
export type RuleConditions = Partial<
  Pick<
    ShieldRule,
    | 'protocol'
    | 'source'
    | 'source_port'
    | 'destination'
    | 'destination_port'
    | 'tcp_flags'
    | 'icmp_type'
    | 'icmp_code'
    | 'fragment'
    | 'packet_length'
    | 'dscp'
  >
>

export type RuleFields = RuleConditions &
  Pick<ShieldRule, 'action'> &
  Partial<Pick<ShieldRule, 'rate_bps' | 'rate_pps'>>

const protocolNames = ['tcp', 'udp', 'icmp', 'gre', 'esp', 'ah'] as const

/** The reasons for which a field of a rule is rejected. */
export type RuleErrorCode =
  | 'prefix_invalid'
  | 'family_differs'
  | 'destination_outside'
  | 'protocol_invalid'
  | 'range_invalid'
  | 'tcp_flags_invalid'
  | 'protocol_needed'
  | 'rate_needed'
  | 'rate_unexpected'

/** `field` is the name in the API. `message` is public text with advice. */
export class RuleError extends Error {
  readonly field: keyof RuleFields
  readonly code: RuleErrorCode

  constructor(field: keyof RuleFields, code: RuleErrorCode, message: string) {
    super(message)
    this.name = 'RuleError'
    this.field = field
    this.code = code
  }
}

/** Parses the conditions of a rule in the list of `prefix`, which is the destination unless the rule has one. Throws RuleError. */
export function parseRuleMatch(rule: RuleConditions, prefix: Prefix): FlowMatch {
  const family = familyOf(prefix)
  const destination = parseDestination(rule.destination, prefix)
  const source = parseSource(rule.source, family)
  const sourcePort = parseRanges(rule, 'source_port', rangeMax.sourcePort)
  const destinationPort = parseRanges(rule, 'destination_port', rangeMax.destinationPort)
  const tcpFlags = parseTcpFlags(rule.tcp_flags)
  const icmpType = numberRange(rule.icmp_type)
  const icmpCode = numberRange(rule.icmp_code)
  const packetLength = parseRanges(rule, 'packet_length', rangeMax.packetLength)
  const dscp = numberRange(rule.dscp)
  let protocol = parseProtocol(rule.protocol, family)
  if (tcpFlags) protocol = need(protocol, [[protocolNumbers.tcp, protocolNumbers.tcp]], 'tcp_flags', 'tcp')
  if (icmpType ?? icmpCode)
    protocol = need(
      protocol,
      [[icmpOf(family), icmpOf(family)]],
      icmpType ? 'icmp_type' : 'icmp_code',
      'icmp',
    )
  if (sourcePort ?? destinationPort)
    protocol = need(protocol, portProtocols, sourcePort ? 'source_port' : 'destination_port', 'tcp or udp')
  return {
    destination,
    ...(source ? { source } : {}),
    ...(protocol ? { protocol } : {}),
    ...(sourcePort ? { sourcePort } : {}),
    ...(destinationPort ? { destinationPort } : {}),
    ...(icmpType ? { icmpType } : {}),
    ...(icmpCode ? { icmpCode } : {}),
    ...(tcpFlags ? { tcpFlags } : {}),
    ...(packetLength ? { packetLength } : {}),
    ...(dscp ? { dscp } : {}),
    ...(rule.fragment === 'yes' ? { fragment: true } : rule.fragment === 'no' ? { fragment: false } : {}),
  }
}

/** Throws RuleError unless a limit has exactly one rate, and other actions have no rate. */
export function parseRuleAction({ action, rate_bps, rate_pps }: RuleFields): FilterAction {
  const bps = rate_bps ?? undefined
  const pps = rate_pps ?? undefined
  if (action !== 'rate_limit') {
    const field = bps !== undefined ? 'rate_bps' : 'rate_pps'
    if ((bps ?? pps) !== undefined)
      throw new RuleError(field, 'rate_unexpected', 'only rate_limit has a rate: remove it')
    return { kind: action }
  }
  if (bps !== undefined && pps !== undefined)
    throw new RuleError('rate_pps', 'rate_unexpected', 'a limit has one rate: set rate_bps or rate_pps')
  if (bps !== undefined) return { kind: 'rate_limit', bps }
  if (pps !== undefined) return { kind: 'rate_limit', pps }
  throw new RuleError('rate_bps', 'rate_needed', 'a limit needs a rate: set rate_bps or rate_pps')
}

const portProtocols: Ranges = [
  [protocolNumbers.tcp, protocolNumbers.tcp],
  [protocolNumbers.udp, protocolNumbers.udp],
]

function parseDestination(text: string | null | undefined, prefix: Prefix): Prefix {
  if (text == null) return prefix
  const destination = parseNetwork(text, 'destination')
  if (covers(prefix, destination)) return destination
  throw new RuleError('destination', 'destination_outside', `the destination is not inside ${prefix}`)
}

function parseSource(text: string | null | undefined, family: Family): Prefix | undefined {
  if (text == null) return undefined
  const source = parseNetwork(text, 'source')
  if (familyOf(source) !== family)
    throw new RuleError(
      'source',
      'family_differs',
      `the source must be IPv${family}, as the prefix of the list`,
    )
  return source.endsWith('/0') ? undefined : source
}

function parseNetwork(text: string, field: 'source' | 'destination'): Prefix {
  try {
    return parsePrefixOrAddress(text)
  } catch (error) {
    if (error instanceof PrefixError) throw new RuleError(field, 'prefix_invalid', error.message)
    throw error
  }
}

function parseProtocol(text: string | null | undefined, family: Family): Ranges | undefined {
  if (text == null || text === 'any') return undefined
  if (text === 'icmp') return [[icmpOf(family), icmpOf(family)]]
  const name = protocolNames.find((one) => one === text)
  if (name) return [[protocolNumbers[name], protocolNumbers[name]]]
  const number = readRanges(text, rangeMax.protocol)
  if (number?.length === 1 && number[0]![0] === number[0]![1]) return number
  const message = `the protocol is any, ${protocolNames.join(', ')} or a number from 0 to 255`
  throw new RuleError('protocol', 'protocol_invalid', message)
}

type RangeField = 'source_port' | 'destination_port' | 'packet_length'

/** All ports are no condition on the port, but still require a protocol with ports. All lengths are no condition. */
function parseRanges(rule: RuleConditions, field: RangeField, max: number): Ranges | undefined {
  const text = rule[field]
  if (text == null) return undefined
  const ranges = readRanges(text, max)
  if (!ranges) {
    const message = `write numbers from 0 to ${max} and ranges, the smaller number first, such as 53 or 53,1900-1910`
    throw new RuleError(field, 'range_invalid', message)
  }
  const isAll = ranges[0]![0] === 0 && ranges[0]![1] === max
  return isAll && field === 'packet_length' ? undefined : ranges
}

function numberRange(value: number | null | undefined): Ranges | undefined {
  return value == null ? undefined : [[value, value]]
}

function parseTcpFlags(text: string | null | undefined): TcpFlags | undefined {
  if (text == null) return undefined
  let set = 0
  let unset = 0
  for (const part of text.split(',', 17).map((one) => one.trim().toLowerCase())) {
    const name = part.startsWith('!') ? part.slice(1) : part
    const bit = Object.hasOwn(tcpFlagBits, name) ? tcpFlagBits[name as keyof typeof tcpFlagBits] : 0
    if (bit === 0 || ((set | unset) & bit) !== 0) {
      const message = `write flags once each, with ! if unset, such as syn,!ack: ${Object.keys(tcpFlagBits).join(', ')}`
      throw new RuleError('tcp_flags', 'tcp_flags_invalid', message)
    }
    if (part.startsWith('!')) unset |= bit
    else set |= bit
  }
  return { set, unset }
}

/** Returns the protocols of the rule, or the protocols with the field. Throws if the rule allows another one. */
function need(given: Ranges | undefined, having: Ranges, field: keyof RuleFields, names: string): Ranges {
  if (!given) return having
  if (coversRanges(having, given)) return given
  const message = `only ${names} has this: set the protocol to ${names}, or remove it`
  throw new RuleError(field, 'protocol_needed', message)
}
