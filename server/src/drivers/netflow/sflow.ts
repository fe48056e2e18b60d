// sFlow version 5 (sflow.org, "sFlow Version 5", July 2004): samples of packets become one flow each, with the length of the frame as octets
// and the sampling rate of the sample; samples of counters go to the inventory.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import { formatWords } from '../datagram/address-words.ts'
import type { Decoding } from './decoding.ts'
import type { Exporter } from './exporter-table.ts'
import { parsePacket } from './packet-header.ts'
import { packetOctets, writeHeader } from './read-records.ts'
import { followSequence } from './sequence.ts'

export type SflowDecoder = (
  exporter: Exporter,
  octets: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  timeMs: number,
  columns: FlowColumns,
) => void

const nameOctetsMax = 100

/** Creates the decoder on the shared state. Records of enterprises other than 0 are skipped. */
export function createSflowDecoder(decoding: Decoding): SflowDecoder {
  const { counters, context, events } = decoding
  const { header } = context
  /** Places of the records of a sample; 0: absent. */
  const at = { raw: 0, rawEnd: 0, ip: 0, ipFamily: 0, gateway: 0, gatewayEnd: 0 }

  return (exporter, octets, view, start, end, timeMs, columns) => {
    const agentOctets = { 1: 4, 2: 16 }[view.getUint32(start + 4)]
    if (view.getUint32(start) !== 5 || agentOctets === undefined || start + 24 + agentOctets > end) {
      counters.malformedDatagrams++
      return
    }
    counters.datagrams.sflow++
    const next = start + 8 + agentOctets
    // Sub-agents count separately, and so do agents behind one address.
    const key = view.getUint32(next - 4) * 2 ** 17 + 2 ** 16 + (view.getUint32(next) & 0xff_ff)
    followSequence(decoding, exporter, key, view.getUint32(next + 4), 1)
    let samples = view.getUint32(next + 12)
    let place = next + 16
    for (; samples > 0 && place + 8 <= end; samples--) {
      const type = view.getUint32(place)
      const sampleEnd = place + 8 + view.getUint32(place + 4)
      if (sampleEnd > end) break
      if (type === 1 || type === 3) readFlowSample(octets, view, place + 8, sampleEnd, type === 3, columns)
      else if ((type === 2 || type === 4) && events.onInterfaceCounters) {
        readCounterSample(exporter, octets, view, start, place + 8, sampleEnd, type === 4, timeMs)
      }
      place = sampleEnd
    }
    if (samples > 0) counters.truncated++
  }

  function readFlowSample(
    octets: Uint8Array,
    view: DataView,
    from: number,
    end: number,
    isExpanded: boolean,
    c: FlowColumns,
  ): void {
    const fixed = isExpanded ? 44 : 32
    if (from + fixed > end) {
      counters.truncated++
      return
    }
    // Expanded samples have the kind and the number of a source or interface as separate words.
    const rateAt = from + (isExpanded ? 12 : 8)
    const inIf = isExpanded ? pairIf(view, rateAt + 12) : packedIf(view, rateAt + 12)
    const outIf = isExpanded ? pairIf(view, rateAt + 20) : packedIf(view, rateAt + 16)
    locateRecords(view, from + fixed, end, view.getUint32(from + fixed - 4))
    const row = c.length
    if (!writePacket(octets, view, c, row)) {
      counters.samplesWithoutAddress++
      return
    }
    c.length = row + 1
    c.time[row] = context.time
    c.exporter[row] = context.exporter
    c.inIf[row] = inIf
    c.outIf[row] = outIf
    c.packetsLo[row] = 1
    c.packetsHi[row] = c.bytesHi[row] = 0
    c.samplingRate[row] = context.override > 0 ? context.override : view.getUint32(rateAt)
    c.srcAs[row] = c.dstAs[row] = c.durationMs[row] = 0
    if (at.gateway > 0) readGateway(view, at.gateway, at.gatewayEnd, c, row)
    if (at.raw > 0) callSink(octets, view, row)
  }

  function locateRecords(view: DataView, from: number, end: number, announced: number): void {
    at.raw = at.ip = at.gateway = 0
    let place = from
    let records = announced
    for (; records > 0 && place + 8 <= end; records--) {
      const type = view.getUint32(place)
      const recordEnd = place + 8 + view.getUint32(place + 4)
      if (recordEnd > end) break
      locateRecord(type, place + 8, recordEnd)
      place = recordEnd
    }
    if (records > 0) counters.truncated++
  }

  function locateRecord(type: number, from: number, end: number): void {
    const length = end - from
    if (type === 1 && length >= 16) {
      at.raw = from
      at.rawEnd = end
    } else if ((type === 3 && length >= 32) || (type === 4 && length >= 56)) {
      at.ip = from
      at.ipFamily = type === 3 ? 4 : 6
    } else if (type === 1003) {
      at.gateway = from
      at.gatewayEnd = end
    }
  }

  /** Writes addresses, ports and octets from the packet's header, or else from the decoded fields of the agent. */
  function writePacket(octets: Uint8Array, view: DataView, c: FlowColumns, row: number): boolean {
    if (at.raw > 0) {
      const from = at.raw + 16
      const end = Math.min(from + view.getUint32(at.raw + 12), at.rawEnd)
      if (parsePacket(octets, from, end, view.getUint32(at.raw), header)) {
        writeHeader(header, c, row)
        c.bytesLo[row] = packetOctets(header, view.getUint32(at.raw + 4))
        return true
      }
    }
    if (at.ip === 0) return false
    writeSampledIp(view, at.ip, at.ipFamily, c, row)
    return true
  }

  function writeSampledIp(view: DataView, from: number, family: number, c: FlowColumns, row: number): void {
    const addressOctets = family === 4 ? 4 : 16
    const after = from + 8 + 2 * addressOctets
    for (let word = 0; word < 4; word++) {
      const place = row * 4 + word
      if (family === 6) {
        c.src[place] = view.getUint32(from + 8 + word * 4)
        c.dst[place] = view.getUint32(from + 24 + word * 4)
      } else c.src[place] = c.dst[place] = word === 2 ? 0xff_ff : 0
    }
    if (family === 4) {
      c.src[row * 4 + 3] = view.getUint32(from + 8)
      c.dst[row * 4 + 3] = view.getUint32(from + 12)
    }
    c.bytesLo[row] = view.getUint32(from)
    c.protocol[row] = view.getUint32(from + 4)
    c.srcPort[row] = view.getUint32(after)
    c.dstPort[row] = view.getUint32(after + 4)
    c.tcpFlags[row] = view.getUint32(after + 8)
    c.dscp[row] = (view.getUint32(after + 12) & 0xff) >> 2
    c.fragment[row] = 0
  }

  function callSink(octets: Uint8Array, view: DataView, row: number): void {
    const from = at.raw + 16
    const length = Math.min(view.getUint32(at.raw + 12), at.rawEnd - from)
    context.onHeader?.(octets, from, length, view.getUint32(at.raw), view.getUint32(at.raw + 4), row)
  }

  /** Extended gateway: next hop, own AS, source AS, peer AS, and the path to the destination. Without a path both ends are local. */
  function readGateway(view: DataView, from: number, end: number, c: FlowColumns, row: number): void {
    if (from + 4 > end) return
    const hopOctets = { 0: 0, 1: 4, 2: 16 }[view.getUint32(from)]
    if (hopOctets === undefined || from + 20 + hopOctets > end) return
    const own = view.getUint32(from + 4 + hopOctets)
    c.srcAs[row] = view.getUint32(from + 8 + hopOctets) || own
    let last = own
    let segments = view.getUint32(from + 16 + hopOctets)
    let place = from + 20 + hopOctets
    for (; segments > 0 && place + 8 <= end; segments--) {
      const count = view.getUint32(place + 4)
      const next = place + 8 + count * 4
      if (next > end) break
      if (count > 0) last = view.getUint32(next - 4)
      place = next
    }
    c.dstAs[row] = last
  }

  function readCounterSample(
    exporter: Exporter,
    octets: Uint8Array,
    view: DataView,
    start: number,
    from: number,
    end: number,
    isExpanded: boolean,
    timeMs: number,
  ): void {
    const fixed = isExpanded ? 16 : 12
    if (from + fixed > end) {
      counters.truncated++
      return
    }
    let place = from + fixed
    let generic = 0
    let name = ''
    for (let records = view.getUint32(place - 4); records > 0 && place + 8 <= end; records--) {
      const type = view.getUint32(place)
      const next = place + 8 + view.getUint32(place + 4)
      if (next > end) {
        counters.truncated++
        return
      }
      if (type === 1 && next - place >= 8 + 88) generic = place + 8
      else if (type === 1005) name = readName(octets, view, place + 8, next)
      place = next
    }
    if (generic > 0) readInterface(exporter, view, start, generic, name, timeMs)
  }

  /** Generic interface counters: one object per interface and about 20 seconds, not per flow. */
  function readInterface(
    exporter: Exporter,
    view: DataView,
    start: number,
    from: number,
    name: string,
    timeMs: number,
  ): void {
    const word = (index: number): number => view.getUint32(from + index * 4)
    const long = (index: number): bigint => view.getBigUint64(from + index * 4)
    events.onInterfaceCounters?.({
      exporter: exporter.address,
      agent: agentOf(view, start),
      timeMs,
      uptimeMs: view.getUint32(start + (view.getUint32(start + 4) === 1 ? 20 : 32)),
      name,
      ifIndex: word(0),
      ifType: word(1),
      speed: long(2),
      direction: word(4),
      adminUp: (word(5) & 1) !== 0,
      operUp: (word(5) & 2) !== 0,
      inOctets: long(6),
      inUnicast: word(8),
      inMulticast: word(9),
      inBroadcast: word(10),
      inDiscards: word(11),
      inErrors: word(12),
      outOctets: long(14),
      outUnicast: word(16),
      outMulticast: word(17),
      outBroadcast: word(18),
      outDiscards: word(19),
      outErrors: word(20),
    })
  }
}

/** Returns the name of an interface (structure 1005); empty unless it consists of printable ASCII characters. */
function readName(octets: Uint8Array, view: DataView, from: number, end: number): string {
  const length = from + 4 <= end ? view.getUint32(from) : 0
  if (length > nameOctetsMax || from + 4 + length > end) return ''
  const name = String.fromCharCode(...octets.subarray(from + 4, from + 4 + length))
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) ? name : ''
}

/** The device itself, as an interface. */
const internal = 0x3f_ff_ff_ff

/** The two highest bits are the kind: 0 an ifIndex, 1 a reason for dropping, 2 several interfaces. */
function packedIf(view: DataView, at: number): number {
  const value = view.getUint32(at)
  return value < internal ? value : 0
}

/** The kind is a separate word, so that an ifIndex may have all 32 bits. */
function pairIf(view: DataView, at: number): number {
  const value = view.getUint32(at + 4)
  return view.getUint32(at) === 0 && value !== internal ? value : 0
}

function agentOf(view: DataView, start: number): string {
  const word = (index: number): number => view.getUint32(start + 8 + index * 4)
  return view.getUint32(start + 4) === 1
    ? formatWords([0, 0, 0xff_ff, word(0)])
    : formatWords([word(0), word(1), word(2), word(3)])
}
