// The packets of an attack as far as detectors report them, as matches that rules are compared with. Pure.
import type { ParsedData } from '@pharos/contract/events/event'
import { tcpFlagBits, protocolNumbers, type FlowMatch } from '../net/flow-match.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { canonicalRanges, readRanges, type Ranges } from '../net/ranges.ts'
import { amplifierPorts } from '../flow/vector.ts'

export type ReportedAttack = {
  readonly start: Date
  readonly networks: readonly Prefix[]
  readonly classification: string
  readonly details: Pick<
    ParsedData,
    'vectors' | 'protocols' | 'source_ports' | 'destination_ports' | 'top_sources'
  >
}

/** A kind of traffic of an attack, without its destination. A condition that is absent is unknown. */
export type AttackVector = Omit<FlowMatch, 'destination' | 'source'>

/** Returns the kinds of traffic of the attack; a single kind without conditions if it is unknown. */
export function attackVectorsOf({
  classification,
  details,
}: Pick<ReportedAttack, 'classification' | 'details'>): AttackVector[] {
  const { vectors = [], protocols = [], source_ports: from = [], destination_ports: to = [] } = details
  const reported = withoutUndefined({
    protocol: protocolsOf(protocols),
    sourcePort: portsOf(from),
    destinationPort: portsOf(to),
  })
  return (vectors.length > 0 ? vectors : [classification]).map((kind) => ({ ...reported, ...vectorOf(kind) }))
}

/** The addresses from which the attack came, as far as they are known. */
export const sourcesOf = ({ details }: Pick<ReportedAttack, 'details'>): Prefix[] =>
  (details.top_sources ?? []).flatMap(({ address }) => {
    try {
      return [parsePrefixOrAddress(address)]
    } catch (error) {
      if (error instanceof PrefixError) return []
      throw error
    }
  })

const one = (number: number): Ranges => [[number, number]]
const udp = one(protocolNumbers.udp)
const tcp = one(protocolNumbers.tcp)
/** Events do not distinguish ICMP from ICMPv6. */
const icmp: Ranges = [
  [protocolNumbers.icmp, protocolNumbers.icmp],
  [protocolNumbers.icmp6, protocolNumbers.icmp6],
]
const { syn, ack, rst } = tcpFlagBits

const byClass: Readonly<Record<string, AttackVector>> = {
  'tcp.syn_flood': { protocol: tcp, tcpFlags: { set: syn, unset: ack } },
  'tcp.ack_flood': { protocol: tcp, tcpFlags: { set: ack, unset: syn } },
  'tcp.rst_flood': { protocol: tcp, tcpFlags: { set: rst, unset: 0 } },
  'ip.fragment': { fragment: true },
  'carpet.udp': { protocol: udp },
  'carpet.tcp': { protocol: tcp },
  'carpet.icmp': { protocol: icmp },
}
const byFamily: Readonly<Record<string, AttackVector>> = {
  udp: { protocol: udp },
  tcp: { protocol: tcp },
  icmp: { protocol: icmp },
}

function vectorOf(kind: string): AttackVector {
  const port = amplifierPorts.get(kind)
  if (port !== undefined) return { protocol: udp, sourcePort: one(port) }
  return byClass[kind] ?? byFamily[kind.split('.', 1)[0]!] ?? {}
}

const named: Readonly<Record<string, Ranges>> = {
  ...Object.fromEntries(Object.entries(protocolNumbers).map(([name, number]) => [name, one(number)])),
  icmp,
  icmpv6: icmp,
  'ipv6-icmp': icmp,
}

/** Undefined if a name is unknown, because rules for it could not be distinguished from others. */
function protocolsOf(names: readonly string[]): Ranges | undefined {
  const ranges = names.map((name) => named[name.toLowerCase()] ?? readRanges(name, 255))
  return ranges.includes(undefined) ? undefined : canonicalRanges(ranges.flatMap((known) => known!))
}

const portsOf = (ports: readonly { readonly port: number }[]): Ranges | undefined =>
  canonicalRanges(ports.map(({ port }) => [port, port]))

const withoutUndefined = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never
