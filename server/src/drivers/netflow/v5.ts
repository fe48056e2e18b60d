// NetFlow v5: a header of 24 octets and up to 30 records of 48, all fixed (Cisco, "NetFlow Export Datagram Format").
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { Decoding } from './decoding.ts'
import { rateWithoutAny } from './common-rates.ts'
import type { Exporter } from './exporter-table.ts'
import { durationMaxMs } from './read-records.ts'
import { followSequence } from './sequence.ts'

const headerOctets = 24
const recordOctets = 48

/** Appends the flows of a datagram whose header is complete. */
export function decodeV5(
  decoding: Decoding,
  exporter: Exporter,
  view: DataView,
  start: number,
  end: number,
  c: FlowColumns,
): void {
  const { counters, context } = decoding
  const announced = view.getUint16(start + 2)
  const available = Math.floor((end - start - headerOctets) / recordOctets)
  const count = Math.min(announced, available)
  if (announced > available) counters.truncated++
  counters.datagrams.netflow5++
  // It counts flows, separately for each engine.
  followSequence(decoding, exporter, view.getUint16(start + 20), view.getUint32(start + 16), announced)
  // Two bits of mode and 14 of interval. 0: the exporter names no rate.
  const rate =
    context.override || view.getUint16(start + 22) & 0x3f_ff || rateWithoutAny(exporter, context.time)
  let row = c.length
  for (let i = 0, at = start + headerOctets; i < count; i++, at += recordOctets) {
    // Some exporters fill datagrams up with empty records.
    if ((view.getUint32(at + 16) | view.getUint32(at + 20)) === 0) {
      counters.recordsWithoutCounters++
      continue
    }
    const word = row * 4
    c.time[row] = context.time
    c.exporter[row] = context.exporter
    c.src[word] = c.src[word + 1] = c.dst[word] = c.dst[word + 1] = 0
    c.src[word + 2] = c.dst[word + 2] = 0xff_ff
    c.src[word + 3] = view.getUint32(at)
    c.dst[word + 3] = view.getUint32(at + 4)
    c.inIf[row] = view.getUint16(at + 12)
    c.outIf[row] = view.getUint16(at + 14)
    c.packetsLo[row] = view.getUint32(at + 16)
    c.packetsHi[row] = 0
    c.bytesLo[row] = view.getUint32(at + 20)
    c.bytesHi[row] = 0
    c.srcPort[row] = view.getUint16(at + 32)
    c.dstPort[row] = view.getUint16(at + 34)
    c.tcpFlags[row] = view.getUint8(at + 37)
    c.protocol[row] = view.getUint8(at + 38)
    c.dscp[row] = view.getUint8(at + 39) >> 2
    c.srcAs[row] = view.getUint16(at + 40)
    c.dstAs[row] = view.getUint16(at + 42)
    c.fragment[row] = 0
    c.samplingRate[row] = rate
    const duration = (view.getUint32(at + 28) - view.getUint32(at + 24)) >>> 0
    c.durationMs[row] = duration <= durationMaxMs ? duration : 0
    row++
  }
  c.length = row
}
