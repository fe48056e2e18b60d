// Flows of the demo as datagrams: IPFIX (RFC 7011), NetFlow v5, and sFlow v5 (sflow.org), as routers send them. The
// collector decodes them like any exporter's.
import { isIpv4, type DemoFlow } from './model.ts'

/** Below the usual MTU. */
const octetsMax = 1_400

export type ExportState = {
  sequence: number
  samples: number
  readonly startedMs: number
}

export const createExportState = (nowMs: number): ExportState => ({
  sequence: 0,
  samples: 0,
  startedMs: nowMs,
})

/** Element and length of each field of the IPFIX templates, in the order in which `writeIpfix` writes them. */
const common = [
  [7, 2],
  [11, 2],
  [4, 1],
  [6, 1],
  [10, 4],
  [14, 4],
  [1, 8],
  [2, 8],
  [197, 1],
] as const
const templates = [
  { id: 256, fields: [[8, 4], [12, 4], ...common] },
  { id: 257, fields: [[27, 16], [28, 16], ...common] },
] as const
const widthOf = (fields: readonly (readonly [number, number])[]): number =>
  fields.reduce((sum, [, length]) => sum + length, 0)

const ipfixHeader = 16
const setHeader = 4

/** The templates are in every message: a collector that starts later gets them immediately. */
export function encodeIpfix(flows: readonly DemoFlow[], state: ExportState, nowMs: number): Buffer[] {
  const messages: Buffer[] = []
  for (const [index, { id, fields }] of templates.entries()) {
    const ofFamily = flows.filter(({ src }) => isIpv4(src) === (index === 0))
    const width = widthOf(fields)
    const templateOctets = setHeader + 4 + fields.length * 4
    const perMessage = Math.floor((octetsMax - ipfixHeader - templateOctets - setHeader) / width)
    for (let at = 0; at < ofFamily.length; at += perMessage) {
      const records = ofFamily.slice(at, at + perMessage)
      const message = Buffer.alloc(ipfixHeader + templateOctets + setHeader + records.length * width)
      message.writeUInt16BE(10, 0)
      message.writeUInt16BE(message.length, 2)
      message.writeUInt32BE(Math.floor(nowMs / 1000), 4)
      message.writeUInt32BE(state.sequence, 8)
      state.sequence = (state.sequence + records.length) >>> 0
      let end = ipfixHeader
      for (const value of [2, templateOctets, id, fields.length, ...fields.flat()])
        end = message.writeUInt16BE(value, end)
      end = message.writeUInt16BE(id, end)
      end = message.writeUInt16BE(setHeader + records.length * width, end)
      for (const flow of records) end = writeIpfix(message, end, flow, index === 0)
      messages.push(message)
    }
  }
  return messages
}

function writeIpfix(message: Buffer, start: number, flow: DemoFlow, ipv4: boolean): number {
  let end = start
  for (const address of [flow.src, flow.dst])
    for (const word of ipv4 ? address.slice(3) : address) end = message.writeUInt32BE(word >>> 0, end)
  end = message.writeUInt16BE(flow.srcPort, end)
  end = message.writeUInt16BE(flow.dstPort, end)
  end = message.writeUInt8(flow.protocol, end)
  end = message.writeUInt8(flow.tcpFlags, end)
  end = message.writeUInt32BE(flow.inIf, end)
  end = message.writeUInt32BE(flow.outIf, end)
  end = message.writeBigUInt64BE(BigInt(flow.bytes), end)
  end = message.writeBigUInt64BE(BigInt(flow.packets), end)
  return message.writeUInt8(flow.fragment ? 0x20 : 0, end)
}

const v5Header = 24
const v5Record = 48
const v5RecordsMax = 28

export function encodeNetflow5(
  flows: readonly DemoFlow[],
  samplingRate: number,
  state: ExportState,
  nowMs: number,
): Buffer[] {
  const messages: Buffer[] = []
  const ipv4 = flows.filter(({ src }) => isIpv4(src))
  const uptime = Math.floor(nowMs - state.startedMs) >>> 0
  for (let at = 0; at < ipv4.length; at += v5RecordsMax) {
    const records = ipv4.slice(at, at + v5RecordsMax)
    const message = Buffer.alloc(v5Header + records.length * v5Record)
    message.writeUInt16BE(5, 0)
    message.writeUInt16BE(records.length, 2)
    message.writeUInt32BE(uptime, 4)
    message.writeUInt32BE(Math.floor(nowMs / 1000), 8)
    message.writeUInt32BE(state.sequence, 16)
    // Two bits of mode, 14 of the interval.
    message.writeUInt16BE(0x4000 | samplingRate, 22)
    state.sequence = (state.sequence + records.length) >>> 0
    for (const [index, flow] of records.entries()) {
      const start = v5Header + index * v5Record
      message.writeUInt32BE(flow.src[3], start)
      message.writeUInt32BE(flow.dst[3], start + 4)
      message.writeUInt16BE(flow.inIf, start + 12)
      message.writeUInt16BE(flow.outIf, start + 14)
      message.writeUInt32BE(flow.packets, start + 16)
      message.writeUInt32BE(Math.min(flow.bytes, 0xffffffff), start + 20)
      message.writeUInt32BE(Math.max(0, uptime - 5000), start + 24)
      message.writeUInt32BE(uptime, start + 28)
      message.writeUInt16BE(flow.srcPort, start + 32)
      message.writeUInt16BE(flow.dstPort, start + 34)
      message.writeUInt8(flow.tcpFlags, start + 37)
      message.writeUInt8(flow.protocol, start + 38)
    }
    messages.push(message)
  }
  return messages
}

const headerOctets = 80
const sampleOctets = 40 + 8 + 16 + headerOctets

const sflowHeader = 28
const samplesMax = Math.floor((octetsMax - sflowHeader) / sampleOctets)

/** One sample for each packet: the first octets of its frame. */
export function encodeSflow(
  flows: readonly DemoFlow[],
  agent: string,
  samplingRate: number,
  state: ExportState,
  nowMs: number,
): Buffer[] {
  const messages: Buffer[] = []
  const samples = flows.flatMap((flow) => Array.from({ length: Math.min(flow.packets, 200) }, () => flow))
  for (let at = 0; at < samples.length; at += samplesMax) {
    const inMessage = samples.slice(at, at + samplesMax)
    const message = Buffer.alloc(sflowHeader + inMessage.length * sampleOctets)
    const head = [5, 1, Buffer.from(agent.split('.').map(Number)).readUInt32BE(), 0, ++state.sequence]
    let end = 0
    for (const value of [...head, Math.floor(nowMs - state.startedMs) >>> 0, inMessage.length])
      end = message.writeUInt32BE(value, end)
    for (const flow of inMessage) end = writeSample(message, end, flow, samplingRate, ++state.samples)
    messages.push(message)
  }
  return messages
}

function writeSample(
  message: Buffer,
  start: number,
  flow: DemoFlow,
  samplingRate: number,
  number: number,
): number {
  const size = Math.round(flow.bytes / flow.packets)
  const values = [
    // A flow sample.
    1,
    sampleOctets - 8,
    number,
    flow.inIf,
    samplingRate,
    (number * samplingRate) >>> 0,
    0,
    flow.inIf,
    flow.outIf,
    1,
    // A raw packet header of Ethernet.
    1,
    16 + headerOctets,
    1,
    size + 14,
    4,
    headerOctets,
  ]
  let end = start
  for (const value of values) end = message.writeUInt32BE(value, end)
  writeFrame(message, end, flow, size)
  return end + headerOctets
}

/** Ethernet, IP and the ports; the rest is zeros. */
function writeFrame(message: Buffer, start: number, flow: DemoFlow, size: number): void {
  const ipv4 = isIpv4(flow.src)
  const ip = start + 14
  message.writeUInt16BE(ipv4 ? 0x0800 : 0x86dd, start + 12)
  if (ipv4) {
    message.writeUInt8(0x45, ip)
    message.writeUInt16BE(Math.min(size, 65_535), ip + 2)
    if (flow.fragment) message.writeUInt16BE(0x20b9, ip + 6)
    message.writeUInt8(58, ip + 8)
    message.writeUInt8(flow.protocol, ip + 9)
    message.writeUInt32BE(flow.src[3], ip + 12)
    message.writeUInt32BE(flow.dst[3], ip + 16)
  } else {
    message.writeUInt8(0x60, ip)
    message.writeUInt16BE(Math.max(0, Math.min(size - 40, 65_535)), ip + 4)
    message.writeUInt8(flow.protocol, ip + 6)
    message.writeUInt8(58, ip + 7)
    for (const [index, word] of [...flow.src, ...flow.dst].entries())
      message.writeUInt32BE(word >>> 0, ip + 8 + index * 4)
  }
  const transport = ip + (ipv4 ? 20 : 40)
  if (transport + 4 <= start + headerOctets) {
    message.writeUInt16BE(flow.srcPort, transport)
    message.writeUInt16BE(flow.dstPort, transport + 2)
  }
  if (flow.protocol === 6 && transport + 14 <= start + headerOctets) {
    message.writeUInt8(0x50, transport + 12)
    message.writeUInt8(flow.tcpFlags, transport + 13)
  }
}
