// For tests: rows of flows by their fields. Only tests import this file.
import { randomUUID } from 'node:crypto'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { parseAddress } from '../net/address.ts'
import { matchesPacket, tcpFlagBits, type FlowMatch } from '../net/flow-match.ts'
import { hostPrefix, parsePrefixOrAddress, prefixBits, type Prefix } from '../net/prefix.ts'
import { overlapRanges } from '../net/ranges.ts'
import type { FlowStore } from './flow-store.ts'

export type TestFlow = {
  readonly teamId: number
  readonly time: Date
  readonly direction: 'in' | 'out' | 'internal'
  readonly isPrimary: boolean
  readonly exporterId: number
  readonly inIf: number
  readonly outIf: number
  readonly portId: number
  readonly prefixId: number
  readonly src: string
  readonly dst: string
  readonly srcPort: number
  readonly dstPort: number
  readonly protocol: number
  readonly tcpFlags: number
  readonly dscp: number
  readonly fragment: number
  readonly srcAs: number
  readonly dstAs: number
  /** Empty: unknown. */
  readonly srcCountry: string
  readonly dstCountry: string
  readonly bytes: number
  readonly packets: number
  readonly samplingRate: number
}

const usual: TestFlow = {
  teamId: 1,
  time: new Date(0),
  direction: 'in',
  isPrimary: true,
  exporterId: 1,
  inIf: 0,
  outIf: 0,
  portId: 0,
  prefixId: 0,
  src: '198.51.100.1',
  dst: '203.0.113.1',
  srcPort: 40_000,
  dstPort: 443,
  protocol: 17,
  tcpFlags: 0,
  dscp: 0,
  fragment: 0,
  srcAs: 0,
  dstAs: 0,
  srcCountry: '',
  dstCountry: '',
  bytes: 1_000,
  packets: 1,
  samplingRate: 1,
}

/** Returns a flow with these fields; others have usual values. */
export const testFlow = (fields: Partial<TestFlow>): TestFlow => ({ ...usual, ...fields })

/** Inserts the flows as a collector does: with their rollups. */
export async function insertFlows(store: FlowStore, flows: readonly TestFlow[]): Promise<void> {
  const of = (field: (flow: TestFlow) => number): number[] => flows.map(field)
  const words = (address: (flow: TestFlow) => string) =>
    Uint32Array.from(flows.flatMap((flow) => wordsOf(address(flow))))
  const countries = (field: 'srcCountry' | 'dstCountry') =>
    Buffer.from(flows.map((flow) => flow[field].padEnd(2, '\0')).join(''))
  const large = (field: (flow: TestFlow) => number) => ({
    low: Uint32Array.from(of((flow) => field(flow) % 2 ** 32)),
    high: Uint32Array.from(of((flow) => Math.floor(field(flow) / 2 ** 32))),
  })
  const u8 = (name: string, field: (flow: TestFlow) => number) =>
    ({ name, type: 'UInt8', values: Uint8Array.from(of(field)) }) as const
  const u16 = (name: string, field: (flow: TestFlow) => number) =>
    ({ name, type: 'UInt16', values: Uint16Array.from(of(field)) }) as const
  const u32 = (name: string, field: (flow: TestFlow) => number) =>
    ({ name, type: 'UInt32', values: Uint32Array.from(of(field)) }) as const
  const directions = ['', 'in', 'out', 'internal']
  const block = encodeNativeBlock(flows.length, [
    u32('team_id', (flow) => flow.teamId),
    { ...u32('time', (flow) => flow.time.getTime() / 1000), type: `DateTime('UTC')` },
    {
      name: 'direction',
      type: `Enum8('in' = 1, 'out' = 2, 'internal' = 3)`,
      values: Uint8Array.from(of((flow) => directions.indexOf(flow.direction))),
    },
    u8('is_primary', (flow) => Number(flow.isPrimary)),
    u32('exporter_id', (flow) => flow.exporterId),
    u32('in_if', (flow) => flow.inIf),
    u32('out_if', (flow) => flow.outIf),
    u32('port_id', (flow) => flow.portId),
    u32('prefix_id', (flow) => flow.prefixId),
    { name: 'src_addr', type: 'IPv6', words: words((flow) => flow.src) },
    { name: 'dst_addr', type: 'IPv6', words: words((flow) => flow.dst) },
    u16('src_port', (flow) => flow.srcPort),
    u16('dst_port', (flow) => flow.dstPort),
    u8('protocol', (flow) => flow.protocol),
    u8('tcp_flags', (flow) => flow.tcpFlags),
    u8('dscp', (flow) => flow.dscp),
    u8('fragment', (flow) => flow.fragment),
    u32('src_as', (flow) => flow.srcAs),
    u32('dst_as', (flow) => flow.dstAs),
    { name: 'src_country', type: 'FixedString(2)', bytes: countries('srcCountry') },
    { name: 'dst_country', type: 'FixedString(2)', bytes: countries('dstCountry') },
    { name: 'bytes', type: 'UInt64', ...large((flow) => flow.bytes) },
    { name: 'packets', type: 'UInt64', ...large((flow) => flow.packets) },
    u32('sampling_rate', (flow) => flow.samplingRate),
  ])
  await store.insert('flows', block, randomUUID())
}

function wordsOf(address: string): number[] {
  const { family, w0, w1, w2, w3 } = prefixBits(parsePrefixOrAddress(address))
  return family === 4 ? [0, 0, 0xffff, w0] : [w0, w1, w2, w3]
}

const host = (text: string): Prefix => hostPrefix(parseAddress(text))
/** Whether the packets of a flow meet the match, as far as a flow shows: the oracle of every statement about matches. */
export const matchesFlow = (match: FlowMatch, flow: TestFlow): boolean =>
  matchesPacket(match, {
    source: host(flow.src),
    destination: host(flow.dst),
    protocol: flow.protocol,
    sourcePort: flow.srcPort,
    destinationPort: flow.dstPort,
    icmpType: Math.floor(flow.dstPort / 256),
    icmpCode: flow.dstPort % 256,
    tcpFlags: flow.tcpFlags,
    packetLength: Math.floor(flow.bytes / flow.packets),
    dscp: flow.dscp,
    fragment: flow.fragment !== 0,
  })

/** Whether a rule concerns a flow that works: its packets have the flow's flags and its mean length only together. */
export function concernsFlow(match: FlowMatch, flow: TestFlow): boolean {
  const { tcpFlags: flags, packetLength: length, ...rest } = match
  const { destination } = match
  const { syn, rst } = tcpFlagBits
  const mayBe = (first: number) => length === undefined || overlapRanges(length, [[first, 80]])
  const hasSet = flags !== undefined && (flow.tcpFlags & flags.set) === flags.set
  const isLong = matchesFlow({ destination, ...(length ? { packetLength: length } : {}) }, flow)
  if (!matchesFlow(rest, flow)) return false
  if (flags === undefined) return isLong || (flow.protocol === 6 && mayBe(40))
  if (flags.set & syn) return mayBe(44) || (hasSet && isLong)
  return hasSet && (isLong || (mayBe(40) && (flags.set & rst) === 0))
}
