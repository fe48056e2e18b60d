// Long flows in the store: an exporter reports a connection of half an hour as one record, which in one minute of a chart would be a peak of
// thirty times its rate. It becomes a row for each minute of its duration, with equal parts of its packets. Pure.
import type { FlowColumns } from '../flow/flow-columns.ts'

/** Shorter flows are of one minute. */
export const splitMs = 90_000
const minuteMs = 60_000
/** Limits of a flow. A longer flow is assigned to its last hour: earlier hours are closed. */
const partsMax = 60
const spanMaxMs = partsMax * minuteMs

/** The number of rows of a flow; 1 if it is stored as it is. A part has a packet at least. */
export function partsOf({ durationMs, packetsLo, packetsHi, bytesHi }: FlowColumns, flow: number): number {
  const duration = durationMs[flow]!
  if (duration < splitMs) return 1
  // Above 2^53 sums are not exact.
  if (packetsHi[flow]! > 0 || bytesHi[flow]! >= 2 ** 21) return 1
  return Math.max(1, Math.min(partsMax, Math.round(duration / minuteMs), packetsLo[flow]!))
}

/** Seconds from a part to the end of its flow, the time of its receipt. Part 0 is the first one. */
export const secondsBefore = (durationMs: number, part: number, parts: number): number =>
  Math.floor((Math.min(durationMs, spanMaxMs) / 1000) * ((parts - 1 - part) / parts))

/** Packets of the parts before `part`. */
const packetsUntil = (packets: number, part: number, parts: number): number => {
  const each = Math.floor(packets / parts)
  return each * part + Math.min(part, packets - each * parts)
}

/** Packets of a part; all parts add up to `packets`. */
export const packetsOf = (packets: number, part: number, parts: number): number =>
  packetsUntil(packets, part + 1, parts) - packetsUntil(packets, part, parts)

/** Octets of a part, so that its packets have the mean length of the flow; all parts add up to `octets`. */
export function octetsOf(octets: number, packets: number, part: number, parts: number): number {
  const length = Math.floor(octets / packets)
  const more = octets - length * packets
  const until = (end: number): number => {
    if (end === parts) return octets
    const some = packetsUntil(packets, end, parts)
    return length * some + Math.min(more, Math.floor(more * (some / packets)))
  }
  return until(part + 1) - until(part)
}
