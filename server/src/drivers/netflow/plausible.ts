// Flows that no network can have sent: exporters with errors send counters that one chart or bill would show as petabits.
import type { FlowColumns } from '../../analysis/flow/flow-columns.ts'
import { moveRow } from './move-row.ts'

const packetOctetsMax = 65_535
/** Of the fastest interfaces, with a margin for bursts; in octets per millisecond. */
const octetsPerMsMax = (1.2 * 800e9) / 8 / 1000
/** Exporters without a duration, and short flows, may report what they collected in a minute. */
const durationMinMs = 60_000

/** Below it, counters of 32 bits are within the limit of the fastest interfaces in a minute. */
const rateOfSmallMax = Math.floor((octetsPerMsMax * durationMinMs) / 2 ** 32)

/** Removes such rows from `from` on, and returns their number. */
export function dropImplausible(c: FlowColumns, from: number): number {
  const { length, bytesLo, bytesHi, packetsLo, packetsHi, samplingRate } = c
  let kept = from
  for (let row = from; row < length; row++) {
    const isSmall =
      (bytesHi[row]! | packetsHi[row]!) === 0 &&
      samplingRate[row]! <= rateOfSmallMax &&
      bytesLo[row]! <= packetsLo[row]! * packetOctetsMax
    if (!isSmall && !isPlausible(c, row)) continue
    if (kept < row) moveRow(c, row, kept)
    kept++
  }
  const dropped = length - kept
  c.length = kept
  return dropped
}

function isPlausible(c: FlowColumns, row: number): boolean {
  const octets = c.bytesHi[row]! * 2 ** 32 + c.bytesLo[row]!
  const packets = c.packetsHi[row]! * 2 ** 32 + c.packetsLo[row]!
  if (packets > 0 && octets > packets * packetOctetsMax) return false
  const sent = octets * Math.max(1, c.samplingRate[row]!)
  return sent <= octetsPerMsMax * Math.max(c.durationMs[row]!, durationMinMs)
}
