// Flows that no network can have sent: exporters with errors send counters that one chart or bill would show as petabits.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { Exporter } from './exporter-table.ts'
import { moveRow } from './move-row.ts'
import { durationMinMs, octetsPerMsMax } from './speed-limits.ts'

const packetOctetsMax = 65_535

/**
 * Removes such rows from `from` on, and returns their number. `smallOctets`: the octets that each interface of their
 * exporters can send in the shortest duration, so that the speed is looked up for only a few rows.
 */
export function dropImplausible(
  c: FlowColumns,
  from: number,
  exporters: readonly Exporter[],
  smallOctets: number,
): number {
  const { length, bytesLo, bytesHi, packetsLo, packetsHi, samplingRate } = c
  let kept = from
  for (let row = from; row < length; row++) {
    const isSmall =
      (bytesHi[row]! | packetsHi[row]!) === 0 &&
      bytesLo[row]! * (samplingRate[row]! || 1) <= smallOctets &&
      bytesLo[row]! <= packetsLo[row]! * packetOctetsMax
    if (!isSmall && !isPlausible(c, row, exporters[c.exporter[row]!]!)) continue
    if (kept < row) moveRow(c, row, kept)
    kept++
  }
  const dropped = length - kept
  c.length = kept
  return dropped
}

function isPlausible(c: FlowColumns, row: number, exporter: Exporter): boolean {
  const octets = c.bytesHi[row]! * 2 ** 32 + c.bytesLo[row]!
  const packets = c.packetsHi[row]! * 2 ** 32 + c.packetsLo[row]!
  const sent = octets * Math.max(1, c.samplingRate[row]!)
  const limit = limitOf(exporter, c.inIf[row]!, c.outIf[row]!) * Math.max(c.durationMs[row]!, durationMinMs)
  if ((packets === 0 || octets <= packets * packetOctetsMax) && sent <= limit) return true
  exporter.shared.implausible = {
    at: c.time[row]!,
    octets,
    packets,
    rate: c.samplingRate[row]!,
    in_if: c.inIf[row]!,
    out_if: c.outIf[row]!,
    duration_ms: c.durationMs[row]!,
  }
  return false
}

/**
 * Octets per millisecond of the faster of both interfaces: packets may be counted before excess packets are dropped.
 */
function limitOf({ shared: { speeds } }: Exporter, inIf: number, outIf: number): number {
  return Math.max(speeds.get(inIf) ?? octetsPerMsMax, speeds.get(outIf) ?? octetsPerMsMax)
}
