// Derives the concurrent attack vectors of a FastNetMon delivery from its counters per protocol and its sample of
// packets.
import type { Classification } from '@pharos/contract/events/classification'
import { amplificationOf } from '../event/classification.ts'
import { dominantOf } from '../event/packets.ts'
import type { SampledPacket } from '../event/packets.ts'
import type { ReportFields } from './reading.ts'

/** The direction of the attack; undefined if FastNetMon does not name it. */
export type AttackDirection = 'incoming' | 'outgoing' | undefined

/** Minimum share of the packets for a separate vector. */
const shareMin = 0.25

/** Returns the vectors, the greatest first. */
export function fastnetmonVectorsOf(
  details: ReportFields,
  direction: AttackDirection,
  sample: readonly SampledPacket[],
): Classification[] {
  const way = direction ?? directionOfHigherRate(details)
  const pps = (name: string) => ppsOf(details, `${way}_${name}_pps`)
  const total = ppsOf(details, `total_${way}_pps`)
  const syn = pps('syn_tcp')
  const tcp = pps('tcp')
  const udp = pps('udp')
  const fragments = pps('ip_fragmented')
  const candidates: [Classification, number][] = [
    [udpVector(sample), udp],
    syn * 2 > tcp ? ['tcp.syn_flood', syn] : [tcpVector(sample), tcp],
    ['icmp.flood', pps('icmp')],
    // Responses of an amplifier are fragmented: fragments alone are no second vector.
    ['ip.fragment', fragments > udp ? fragments : 0],
  ]
  const vectors = candidates
    .filter(([, rate]) => rate > 0 && rate >= total * shareMin)
    .toSorted(([, a], [, b]) => b - a)
    .map(([vector]) => vector)
  return vectors.length > 0 ? vectors : statedVector(details, sample)
}

/** An invalid rate makes no vector; invalid rates in the event's own fields are noted. */
function ppsOf(details: ReportFields, name: string): number {
  const rate = details[name]
  return typeof rate === 'number' && rate >= 0 && Number.isSafeInteger(Math.round(rate))
    ? Math.round(rate)
    : 0
}

function directionOfHigherRate(details: ReportFields): 'incoming' | 'outgoing' {
  return ppsOf(details, 'total_outgoing_pps') > ppsOf(details, 'total_incoming_pps') ? 'outgoing' : 'incoming'
}

function udpVector(sample: readonly SampledPacket[]): Classification {
  const udp = sample.filter(({ protocol }) => protocol === 'udp')
  const port = dominantOf(udp, ({ sourcePort }) => sourcePort)
  return (port === undefined ? undefined : amplificationOf(port)) ?? 'udp.flood'
}

function tcpVector(sample: readonly SampledPacket[]): Classification {
  const tcp = sample.filter(({ protocol }) => protocol === 'tcp')
  const flags = dominantOf(tcp, ({ tcpFlags }) => tcpFlags)
  if (flags === 'ack') return 'tcp.ack_flood'
  if (flags === 'syn') return 'tcp.syn_flood'
  return flags?.split(',').includes('rst') ? 'tcp.rst_flood' : 'tcp.flood'
}

/** Without counters, uses the protocol of older versions. */
function statedVector(details: ReportFields, sample: readonly SampledPacket[]): Classification[] {
  const type = attackTypes.get(details.attack_type)
  if (type) return [type]
  switch (details.attack_protocol) {
    case 'udp':
      return [udpVector(sample)]
    case 'tcp':
      return [tcpVector(sample)]
    case 'icmp':
      return ['icmp.flood']
    default:
      return []
  }
}

const attackTypes: ReadonlyMap<unknown, Classification> = new Map([
  ['syn_flood', 'tcp.syn_flood'],
  ['udp_flood', 'udp.flood'],
  ['icmp_flood', 'icmp.flood'],
  ['ip_fragmentation', 'ip.fragment'],
])
