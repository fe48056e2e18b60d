// Reads the records of a data set into columns, as any template describes them. It is the reference for
// `compile-records.ts`, and is used for variable-length records and rarely used templates. It allocates no memory per
// record.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { HeaderSink } from '../../flow/flow-decoder.ts'
import type { ConnectionCounts, Connections } from './connections.ts'
import { slot, type RecordLayout } from './elements.ts'
import { headerProtocol, parsePacket, type PacketHeader } from './packet-header.ts'
import { high, isPresent, lengths, low, places, walk } from './record-values.ts'

/** The common values of the rows of a set, and counters of skipped records. One object, reused. */
export type RecordContext = {
  exporter: number
  /** Source port of the datagram. */
  port: number
  /** The exporter's index in `connections`. */
  connectionsOf: number
  /** Unix seconds. */
  time: number
  /** The sampling rate of the platform file, which replaces all others; 0 if not set. */
  override: number
  /** The rate of every record without its own rate; -1: `lookup` decides by sampler and interface. */
  rate: number
  lookup: (sampler: number, inIf: number) => number
  readonly connections: Connections
  readonly header: PacketHeader
  readonly onHeader: HeaderSink | undefined
  withoutCounters: number
  withoutAddress: number
}

/** Appends the flows of the set in `octets[at, end)`. Returns as `walk`. */
export function readFlowRecords(
  octets: Uint8Array,
  at: number,
  end: number,
  layout: RecordLayout,
  context: RecordContext,
  columns: FlowColumns,
): number {
  return walk(octets, at, end, layout, () => readRecord(octets, layout, context, columns))
}

function readRecord(
  octets: Uint8Array,
  layout: RecordLayout,
  context: RecordContext,
  columns: FlowColumns,
): void {
  if (!layout.hasAddress) {
    if (layout.hasSection) readSection(octets, context, columns)
    else context.withoutAddress++
    return
  }
  if (layout.isConnection) {
    readConnection(octets, context, columns)
    return
  }
  let octetsSlot = slot.octets
  let packetsSlot = slot.packets
  if (isZero(octets, octetsSlot, packetsSlot)) {
    octetsSlot = slot.octetsAlternate
    packetsSlot = slot.packetsAlternate
  }
  const hasForward = !isZero(octets, octetsSlot, packetsSlot)
  const hasReverse = !isZero(octets, slot.octetsReverse, slot.packetsReverse)
  if (!hasForward && !hasReverse) {
    context.withoutCounters++
    return
  }
  // A one-sided connection (only answers were counted) has one row, the reverse one.
  if (hasForward) writeRow(octets, octetsSlot, packetsSlot, false, context, columns)
  if (hasReverse) writeRow(octets, slot.octetsReverse, slot.packetsReverse, true, context, columns)
}

const counts: ConnectionCounts = { octets: 0, packets: 0, octetsReverse: 0, packetsReverse: 0 }

/** Reads an event of a connection without the values counted before. */
function readConnection(octets: Uint8Array, context: RecordContext, columns: FlowColumns): void {
  counts.octets = long(octets, slot.octets)
  counts.packets = long(octets, slot.packets)
  counts.octetsReverse = long(octets, slot.octetsReverse)
  counts.packetsReverse = long(octets, slot.packetsReverse)
  context.connections.take(
    context.connectionsOf,
    low(octets, slot.connection),
    low(octets, slot.event),
    long(octets, slot.startMs),
    long(octets, slot.eventTime),
    counts,
  )
  const hasForward = counts.octets + counts.packets > 0
  const hasReverse = counts.octetsReverse + counts.packetsReverse > 0
  if (!hasForward && !hasReverse) context.withoutCounters++
  if (hasForward) {
    writeRow(octets, slot.octets, slot.packets, false, context, columns)
    writeCounts(columns, counts.octets, counts.packets)
  }
  if (hasReverse) {
    writeRow(octets, slot.octetsReverse, slot.packetsReverse, true, context, columns)
    writeCounts(columns, counts.octetsReverse, counts.packetsReverse)
  }
}

const long = (octets: Uint8Array, index: number): number => high(octets, index) * 2 ** 32 + low(octets, index)

/** Replaces the counters of the last row. */
function writeCounts(c: FlowColumns, octets: number, packets: number): void {
  const row = c.length - 1
  c.bytesLo[row] = octets
  c.bytesHi[row] = octets / 2 ** 32
  c.packetsLo[row] = packets
  c.packetsHi[row] = packets / 2 ** 32
}

function isZero(octets: Uint8Array, a: number, b: number): boolean {
  return (low(octets, a) | high(octets, a) | low(octets, b) | high(octets, b)) === 0
}

function writeRow(
  octets: Uint8Array,
  octetsSlot: number,
  packetsSlot: number,
  isReverse: boolean,
  context: RecordContext,
  c: FlowColumns,
): void {
  const row = c.length++
  c.time[row] = context.time
  c.exporter[row] = context.exporter
  const inIf = low(octets, slot.inIf) || low(octets, slot.inIfPhysical)
  const outIf = low(octets, slot.outIf) || low(octets, slot.outIfPhysical)
  const srcAs = low(octets, slot.srcAs)
  const dstAs = low(octets, slot.dstAs)
  const protocol = low(octets, slot.protocol) & 0xff
  const srcPort = low(octets, slot.srcPort)
  const dstPort = destinationPort(octets, protocol)
  const isIcmp = protocol === 1 || protocol === 58
  const isV6 = hasVersion6(octets)
  const [srcSlot, dstSlot] = isV6 ? [slot.src6, slot.dst6] : [slot.src4, slot.dst4]
  writeAddress(octets, srcSlot, isV6, isReverse ? c.dst : c.src, row * 4)
  writeAddress(octets, dstSlot, isV6, isReverse ? c.src : c.dst, row * 4)
  c.inIf[row] = isReverse ? outIf : inIf
  c.outIf[row] = isReverse ? inIf : outIf
  c.srcAs[row] = isReverse ? dstAs : srcAs
  c.dstAs[row] = isReverse ? srcAs : dstAs
  // Type and code are no ports: they stay in place.
  c.srcPort[row] = isReverse && !isIcmp ? dstPort : srcPort
  c.dstPort[row] = isReverse && !isIcmp ? srcPort : dstPort
  c.protocol[row] = protocol
  c.tcpFlags[row] = isReverse
    ? low(octets, slot.tcpFlagsReverse) | low(octets, slot.tcpFlagsInitialReverse)
    : low(octets, slot.tcpFlags) | low(octets, slot.tcpFlagsInitial)
  c.dscp[row] = isPresent(slot.dscp) ? low(octets, slot.dscp) & 0x3f : (low(octets, slot.tos) & 0xff) >> 2
  c.fragment[row] = isFragment(octets) ? 1 : 0
  c.bytesLo[row] = low(octets, octetsSlot)
  c.bytesHi[row] = high(octets, octetsSlot)
  c.packetsLo[row] = low(octets, packetsSlot)
  c.packetsHi[row] = high(octets, packetsSlot)
  c.samplingRate[row] = rateOfRow(octets, inIf, context)
  c.durationMs[row] = durationOf(octets)
}

/** With both families in a template, the record's IP version decides; without it, the address that is not 0. */
function hasVersion6(octets: Uint8Array): boolean {
  const has4 = isPresent(slot.src4) || isPresent(slot.dst4)
  const has6 = isPresent(slot.src6) || isPresent(slot.dst6)
  if (!has4 || !has6) return has6
  const version = low(octets, slot.ipVersion)
  if (version === 4 || version === 6) return version === 6
  return (low(octets, slot.src4) | low(octets, slot.dst4)) === 0
}

function writeAddress(
  octets: Uint8Array,
  index: number,
  isV6: boolean,
  into: Uint32Array,
  word: number,
): void {
  const at = places[index]!
  if (!isV6) {
    into[word] = into[word + 1] = 0
    into[word + 2] = 0xff_ff
    into[word + 3] = low(octets, index)
    return
  }
  for (let i = 0; i < 4; i++) into[word + i] = at < 0 ? 0 : word32(octets, at + i * 4)
}

const word32 = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!

function destinationPort(octets: Uint8Array, protocol: number): number {
  const port = low(octets, slot.dstPort)
  if (protocol === 1) return icmp(octets, slot.icmp4, slot.icmpType4, slot.icmpCode4) || port
  return protocol === 58 ? icmp(octets, slot.icmp6, slot.icmpType6, slot.icmpCode6) || port : port
}

function icmp(octets: Uint8Array, both: number, type: number, code: number): number {
  return isPresent(both)
    ? low(octets, both) & 0xff_ff
    : ((low(octets, type) & 0xff) << 8) | (low(octets, code) & 0xff)
}

function isFragment(octets: Uint8Array): boolean {
  return low(octets, slot.fragmentOffset) !== 0 || hasMoreFragments(octets)
}

/** `fragmentFlags`: reserved, DF, MF as the highest bits. */
function hasMoreFragments(octets: Uint8Array): boolean {
  return isPresent(slot.fragmentFlags) && (octets[places[slot.fragmentFlags]!]! & 0x20) !== 0
}

function rateOfRow(octets: Uint8Array, inIf: number, context: RecordContext): number {
  if (context.override > 0) return context.override
  const own = rateIn(octets)
  if (own > 0) return own
  return context.rate >= 0 ? context.rate : context.lookup(low(octets, slot.sampler), inIf)
}

/** selectorAlgorithm (RFC 5477, section 8.2.1); from 5 on filters, which have no rate. */
const algorithm = { byCount: 1, byTime: 2, nOfN: 3, probability: 4 } as const

/**
 * Returns the sampling rate in a record of options or a flow; 0 without a rate. Without an algorithm, or without its
 * elements, a complete pair comes before single elements: IOS XR sends a size and a population beside an interval of 1.
 */
function rateIn(octets: Uint8Array): number {
  const named = low(octets, slot.algorithm)
  if (named > algorithm.probability) return 0
  return (
    rateOfAlgorithm(octets, named) ||
    rateOfSize(octets) ||
    (isPresent(slot.space) ? rateOfPair(octets, slot.interval, slot.space) : 0) ||
    low(octets, slot.rate) ||
    low(octets, slot.interval) ||
    rateOfProbability(octets)
  )
}

function rateOfAlgorithm(octets: Uint8Array, named: number): number {
  if (named === algorithm.byCount) return rateOfPair(octets, slot.interval, slot.space)
  if (named === algorithm.byTime && isPresent(slot.spaceTime))
    return rateOfPair(octets, slot.intervalTime, slot.spaceTime)
  if (named === algorithm.nOfN) return rateOfSize(octets)
  return named === algorithm.probability ? rateOfProbability(octets) : 0
}

/** An observed interval and the unobserved space after it; without a space the interval is the rate. */
function rateOfPair(octets: Uint8Array, intervalSlot: number, spaceSlot: number): number {
  const interval = low(octets, intervalSlot)
  if (interval === 0 || !isPresent(spaceSlot)) return interval
  return Math.min(0xff_ff_ff_ff, Math.round((interval + low(octets, spaceSlot)) / interval))
}

function rateOfSize(octets: Uint8Array): number {
  const size = low(octets, slot.size)
  return size > 0 ? Math.round(low(octets, slot.population) / size) : 0
}

/** `samplingProbability` is the only float: of 8 octets, or of 4. */
function rateOfProbability(octets: Uint8Array): number {
  const [at, length] = [places[slot.probability]!, lengths[slot.probability]!]
  if (at < 0 || (length !== 4 && length !== 8)) return 0
  const view = new DataView(octets.buffer, octets.byteOffset + at, length)
  const probability = length === 4 ? view.getFloat32(0) : view.getFloat64(0)
  return probability > 0 && probability <= 1 ? Math.min(0xff_ff_ff_ff, Math.round(1 / probability)) : 0
}

/** Exporters report flows earlier than this: a larger difference comes from two clocks, or an end before the start. */
export const durationMaxMs = 86_400_000

/** Differences are modulo 2^32, so that the low half of a time is enough. */
function durationOf(octets: Uint8Array): number {
  const ms =
    low(octets, slot.duration) ||
    (isPresent(slot.startMs) && isPresent(slot.endMs)
      ? (low(octets, slot.endMs) - low(octets, slot.startMs)) >>> 0
      : isPresent(slot.startSeconds) && isPresent(slot.endSeconds)
        ? ((low(octets, slot.endSeconds) - low(octets, slot.startSeconds)) >>> 0) * 1000
        : 0)
  return ms <= durationMaxMs ? ms : 0
}

/** A record that contains the first octets of a packet instead of its fields (PSAMP, and Cisco's layer 2 sections). */
function readSection(octets: Uint8Array, context: RecordContext, c: FlowColumns): void {
  const isFrame = isPresent(slot.frame)
  const index = isFrame ? slot.frame : slot.ipSection
  const [at, length] = [places[index]!, lengths[index]!]
  const protocol = isFrame ? headerProtocol.ethernet : headerProtocol.ipv4
  const { header } = context
  if (!parsePacket(octets, at, at + length, protocol, header)) {
    context.withoutAddress++
    return
  }
  const row = c.length++
  const inIf = low(octets, slot.inIf) || low(octets, slot.inIfPhysical)
  c.time[row] = context.time
  c.exporter[row] = context.exporter
  c.inIf[row] = inIf
  c.outIf[row] = low(octets, slot.outIf) || low(octets, slot.outIfPhysical)
  c.srcAs[row] = low(octets, slot.srcAs)
  c.dstAs[row] = low(octets, slot.dstAs)
  writeHeader(header, c, row)
  const hasOctets = isPresent(slot.octets)
  c.bytesLo[row] = hasOctets ? low(octets, slot.octets) : packetOctets(header, low(octets, slot.frameSize))
  c.bytesHi[row] = hasOctets ? high(octets, slot.octets) : 0
  const hasPackets = isPresent(slot.packets)
  c.packetsLo[row] = hasPackets ? low(octets, slot.packets) : 1
  c.packetsHi[row] = hasPackets ? high(octets, slot.packets) : 0
  c.samplingRate[row] = rateOfRow(octets, inIf, context)
  c.durationMs[row] = 0
  context.onHeader?.(octets, at, length, protocol, c.bytesLo[row]!, row)
}

/** Octets of a frame around its packet, if the packet itself has no length: Ethernet with its checksum. */
const frameOverhead = 18

/** Octets of the packet, which all protocols count: the length in its header, unless the frame is shorter. */
export function packetOctets({ ipLength }: PacketHeader, frameLength: number): number {
  const isKnown = ipLength > 0 && (frameLength === 0 || ipLength <= frameLength)
  return isKnown ? ipLength : Math.max(0, frameLength - frameOverhead)
}

/** Writes the columns that a packet's header has: addresses, ports, protocol, flags. */
export function writeHeader(header: PacketHeader, c: FlowColumns, row: number): void {
  for (let word = 0; word < 4; word++) {
    c.src[row * 4 + word] = header.src[word]!
    c.dst[row * 4 + word] = header.dst[word]!
  }
  c.srcPort[row] = header.srcPort
  c.dstPort[row] = header.dstPort
  c.protocol[row] = header.protocol
  c.tcpFlags[row] = header.tcpFlags
  c.dscp[row] = header.dscp
  c.fragment[row] = header.fragment
}

/**
 * Calls `onSampling` for each record of options that contains a sampling rate, and `onAmbiguous` if its complete pairs of elements (size and
 * population, interval and space) have two. Returns as `walk`.
 */
export function readOptionRecords(
  octets: Uint8Array,
  at: number,
  end: number,
  layout: RecordLayout,
  onSampling: (domain: number | undefined, sampler: number, inIf: number, rate: number) => void,
  onAmbiguous: (first: number, second: number) => void,
): number {
  return walk(octets, at, end, layout, () => {
    const rate = rateIn(octets)
    const bySize = rateOfSize(octets)
    const byCount = isPresent(slot.space) ? rateOfPair(octets, slot.interval, slot.space) : 0
    if (bySize > 0 && byCount > 0 && bySize !== byCount) onAmbiguous(bySize, byCount)
    if (rate === 0) return
    const domain = isPresent(slot.domain) ? low(octets, slot.domain) : undefined
    onSampling(domain, low(octets, slot.sampler), low(octets, slot.inIf), rate)
  })
}
