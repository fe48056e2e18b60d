// The rows of a batch as the columns of the table `flows`, in the types in which they are sent.
import type { BlockColumn, FlowColumns } from '../flow/flow-columns.ts'
import type { FlowRows, RowContext } from './flow-rows.ts'
import { octetsOf, packetsOf, secondsBefore } from './split-flows.ts'

export function toBlockColumns(columns: FlowColumns, rows: FlowRows, context: RowContext): BlockColumn[] {
  const ids = Uint32Array.from(context.exporters, ({ id }) => id)
  const exporterIds = words(rows, columns.exporter)
  for (let row = 0; row < rows.length; row++) exporterIds[row] = ids[exporterIds[row]!]!
  const counters = countersOf(columns, rows)
  const source = addresses(rows, columns.src)
  const destination = addresses(rows, columns.dst)
  return [
    { name: 'team_id', type: 'UInt32', values: rows.teamId },
    { name: 'time', type: "DateTime('UTC')", values: counters.time },
    { name: 'direction', type: "Enum8('in' = 1, 'out' = 2, 'internal' = 3)", values: rows.direction },
    { name: 'is_primary', type: 'UInt8', values: rows.isPrimary },
    { name: 'exporter_id', type: 'UInt32', values: exporterIds },
    { name: 'in_if', type: 'UInt32', values: words(rows, columns.inIf) },
    { name: 'out_if', type: 'UInt32', values: words(rows, columns.outIf) },
    { name: 'port_id', type: 'UInt32', values: rows.portId },
    { name: 'prefix_id', type: 'UInt32', values: rows.prefixId },
    { name: 'src_addr', type: 'IPv6', words: source },
    { name: 'dst_addr', type: 'IPv6', words: destination },
    { name: 'src_port', type: 'UInt16', values: halves(rows, columns.srcPort) },
    { name: 'dst_port', type: 'UInt16', values: halves(rows, columns.dstPort) },
    { name: 'protocol', type: 'UInt8', values: octets(rows, columns.protocol) },
    { name: 'tcp_flags', type: 'UInt8', values: octets(rows, columns.tcpFlags) },
    { name: 'dscp', type: 'UInt8', values: octets(rows, columns.dscp) },
    { name: 'fragment', type: 'UInt8', values: octets(rows, columns.fragment) },
    { name: 'src_as', type: 'UInt32', values: asns(rows, context, columns.srcAs, source) },
    { name: 'dst_as', type: 'UInt32', values: asns(rows, context, columns.dstAs, destination) },
    { name: 'src_country', type: 'FixedString(2)', bytes: countries(rows, context, source) },
    { name: 'dst_country', type: 'FixedString(2)', bytes: countries(rows, context, destination) },
    { name: 'bytes', type: 'UInt64', low: counters.bytesLo, high: counters.bytesHi },
    { name: 'packets', type: 'UInt64', low: counters.packetsLo, high: counters.packetsHi },
    { name: 'sampling_rate', type: 'UInt32', values: words(rows, columns.samplingRate) },
    { name: 'flow_count', type: 'UInt8', values: counters.flowCount },
  ]
}

type Gathered = Pick<FlowRows, 'length' | 'flow'>

function words({ length, flow }: Gathered, column: Uint32Array): Uint32Array {
  const values = new Uint32Array(length)
  for (let row = 0; row < length; row++) values[row] = column[flow[row]!]!
  return values
}

function halves({ length, flow }: Gathered, column: Uint16Array): Uint16Array {
  const values = new Uint16Array(length)
  for (let row = 0; row < length; row++) values[row] = column[flow[row]!]!
  return values
}

function octets({ length, flow }: Gathered, column: Uint8Array): Uint8Array {
  const values = new Uint8Array(length)
  for (let row = 0; row < length; row++) values[row] = column[flow[row]!]!
  return values
}

function addresses({ length, flow }: Gathered, column: Uint32Array): Uint32Array {
  const values = new Uint32Array(length * 4)
  for (let row = 0; row < length; row++) {
    const [to, from] = [row * 4, flow[row]! * 4]
    values[to] = column[from]!
    values[to + 1] = column[from + 1]!
    values[to + 2] = column[from + 2]!
    values[to + 3] = column[from + 3]!
  }
  return values
}

/** `address` has the addresses of the rows. */
function asns(
  { length, flow }: Gathered,
  { tables, ownAsn }: RowContext,
  reported: Uint32Array,
  address: Uint32Array,
): Uint32Array {
  const values = new Uint32Array(length)
  for (let row = 0; row < length; row++) {
    const asn = reported[flow[row]!]!
    const at = row * 4
    const isUseful = asn !== 0 && asn !== ownAsn
    values[row] = isUseful
      ? asn
      : tables.asns.find(address[at]!, address[at + 1]!, address[at + 2]!, address[at + 3]!) || asn
  }
  return values
}

function countries({ length }: Gathered, { tables }: RowContext, address: Uint32Array): Uint8Array {
  const values = new Uint8Array(length * 2)
  if (tables.countries.size === 0) return values
  for (let row = 0; row < length; row++) {
    const at = row * 4
    const country = tables.countries.find(address[at]!, address[at + 1]!, address[at + 2]!, address[at + 3]!)
    values[row * 2] = country >>> 8
    values[row * 2 + 1] = country & 255
  }
  return values
}

/** The columns in which the parts of a long flow differ. */
function countersOf(columns: FlowColumns, { length, flow, part, parts }: FlowRows) {
  const empty = () => new Uint32Array(length)
  const [time, bytesLo, bytesHi, packetsLo, packetsHi] = [empty(), empty(), empty(), empty(), empty()]
  const flowCount = new Uint8Array(length).fill(1)
  for (let row = 0; row < length; row++) {
    const of = flow[row]!
    time[row] = columns.time[of]!
    bytesLo[row] = columns.bytesLo[of]!
    bytesHi[row] = columns.bytesHi[of]!
    packetsLo[row] = columns.packetsLo[of]!
    packetsHi[row] = columns.packetsHi[of]!
    if (parts[row] === 1) continue
    const [at, count] = [part[row]!, parts[row]!]
    const packets = columns.packetsLo[of]!
    const bytes = octetsOf(columns.bytesHi[of]! * 2 ** 32 + columns.bytesLo[of]!, packets, at, count)
    time[row]! -= secondsBefore(columns.durationMs[of]!, at, count)
    bytesLo[row] = bytes
    bytesHi[row] = bytes / 2 ** 32
    packetsLo[row] = packetsOf(packets, at, count)
    flowCount[row] = at === 0 ? 1 : 0
  }
  return { time, bytesLo, bytesHi, packetsLo, packetsHi, flowCount }
}
