// Sequence numbers of exporters: a jump counts datagrams that the network or a receive buffer lost.
import type { DecoderCounters } from '../../flow/flow-decoder.ts'
import type { Decoding } from './decoding.ts'
import type { Exporter } from './exporter-table.ts'

/** Counts a jump from the expected number to the received one, both modulo 2^32. */
export function countGap(counters: DecoderCounters, expected: number | undefined, received: number): void {
  if (expected === undefined || expected === received) return
  const missing = (received - expected) >>> 0
  counters.sequenceGaps++
  // A number below the expected one is a datagram out of order or a restart of the exporter: no datagram is missing.
  if (missing < 0x80_00_00_00) counters.sequenceMissing += missing
}

/** Follows a sequence of an exporter: `received` is the number of this datagram, `count` how far it advances. */
export function followSequence(
  { counters, quota }: Decoding,
  exporter: Exporter,
  key: number,
  received: number,
  count: number,
): void {
  const { sequences } = exporter
  const known = sequences.get(key)
  countGap(counters, known?.next, received)
  const next = (received + count) >>> 0
  if (known) known.next = next
  else if (quota.take(exporter, 'sequences')) sequences.set(key, { next })
}
