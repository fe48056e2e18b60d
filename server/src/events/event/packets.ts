// Summarises a sample of packets of an attack: senders, and source and destination ports. Pure, independent of the protocol.
import type { ParsedData } from '@pharos/contract/events/event'
import type { Address } from '../../net/address.ts'

/** One line of a sample, already multiplied by its sampling rate. */
export type SampledPacket = {
  readonly source: Address
  readonly destination: Address
  readonly sourcePort: number | undefined
  readonly destinationPort: number | undefined
  readonly protocol: string
  /** Lower case, comma separated; empty without flags. */
  readonly tcpFlags: string
  readonly packets: number
  readonly bytes: number
}

/** The counted properties of a packet. */
export type CountedPacket = Pick<SampledPacket, 'source' | 'packets' | 'bytes'> &
  Partial<Pick<SampledPacket, 'sourcePort' | 'destinationPort'>>

type Tops = Pick<Required<ParsedData>, 'top_sources' | 'source_ports' | 'destination_ports'>
const topMax = 20

/** The greatest senders and ports, the greatest first. */
export function topsOf(sample: readonly CountedPacket[]): Tops {
  return {
    top_sources: tally(sample, ({ source }) => source).map(({ key, packets, bytes }) => ({
      address: key,
      packets,
      bytes,
    })),
    source_ports: tally(sample, ({ sourcePort }) => sourcePort).map(portShare),
    destination_ports: tally(sample, ({ destinationPort }) => destinationPort).map(portShare),
  }
}

function portShare({ key, packets, bytes }: Tally<number>) {
  return { port: key, packets, bytes }
}

type Tally<K> = { key: K; packets: number; bytes: number }

function tally<K extends string | number>(
  sample: readonly CountedPacket[],
  keyOf: (packet: CountedPacket) => K | undefined,
): Tally<K>[] {
  const tallies = new Map<K, Tally<K>>()
  for (const packet of sample) {
    const key = keyOf(packet)
    if (key === undefined) continue
    const known = tallies.get(key) ?? { key, packets: 0, bytes: 0 }
    known.packets = capped(known.packets + packet.packets)
    known.bytes = capped(known.bytes + packet.bytes)
    tallies.set(key, known)
  }
  return [...tallies.values()].toSorted(greatestFirst).slice(0, topMax)
}

function greatestFirst<K extends string | number>(a: Tally<K>, b: Tally<K>): number {
  return b.packets - a.packets || b.bytes - a.bytes || (a.key < b.key ? -1 : 1)
}

/** Returns the value of more than half of the sampled packets, if any. */
export function dominantOf<T>(
  sample: readonly SampledPacket[],
  valueOf: (packet: SampledPacket) => T | undefined,
): T | undefined {
  const packets = new Map<T, number>()
  let total = 0
  for (const packet of sample) {
    total += packet.packets
    const value = valueOf(packet)
    if (value !== undefined) packets.set(value, (packets.get(value) ?? 0) + packet.packets)
  }
  for (const [value, count] of packets) if (count * 2 > total) return value
  return undefined
}

function capped(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER)
}
