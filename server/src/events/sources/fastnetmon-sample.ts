// FastNetMon's sample of the attack's packets: `packet_dump_detailed` if present, else the lines of `packet_dump`. A
// sample only illustrates, so an unreadable line is skipped instead of failing the delivery.
import { parseAddress } from '../../net/address.ts'
import { cleanText } from '../event/json.ts'
import type { SampledPacket } from '../event/packets.ts'

const linesMax = 2_000

export function readSample(body: { readonly [name: string]: unknown }): SampledPacket[] {
  const { packet_dump_detailed: detailed, packet_dump: lines } = body
  if (Array.isArray(detailed) && detailed.length > 0) return detailed.slice(0, linesMax).flatMap(readDetailed)
  return Array.isArray(lines) ? lines.slice(0, linesMax).flatMap(readLine) : []
}

function readDetailed(entry: unknown): SampledPacket[] {
  if (typeof entry !== 'object' || entry === null) return []
  const fields = entry as Record<string, unknown>
  return packetOf({
    source: fields.source_ip,
    destination: fields.destination_ip,
    sourcePort: fields.source_port,
    destinationPort: fields.destination_port,
    protocol: fields.protocol,
    tcpFlags: fields.tcp_flags,
    packets: fields.packets,
    length: fields.length,
    sampleRatio: fields.sample_ratio,
  })
}

// 2018-12-15 19:16:39.376373 127.0.0.10:0 > 127.0.0.1:8842 protocol: tcp flags: rst,ack frag: 0  packets: 1
// size: 54 bytes ip size: 40 bytes ttl: 64 sample ratio: 1
const endpoints = /(\S{2,60}):(\d{1,5}) > (\S{2,60}):(\d{1,5}) /

function readLine(line: unknown): SampledPacket[] {
  if (typeof line !== 'string') return []
  const text = line.slice(0, 400)
  const match = endpoints.exec(text)
  if (!match) return []
  const word = (pattern: RegExp) => pattern.exec(text)?.[1]
  return packetOf({
    source: match[1]!.replace(/^\[|\]$/g, ''),
    sourcePort: Number(match[2]),
    destination: match[3]!.replace(/^\[|\]$/g, ''),
    destinationPort: Number(match[4]),
    protocol: word(/ protocol: ([a-z0-9]{1,20})/),
    tcpFlags: word(/ flags: ([a-z,]{1,60})/),
    packets: Number(word(/ packets: (\d{1,9})/) ?? 1),
    length: Number(word(/ size: (\d{1,9}) bytes/) ?? 0),
    sampleRatio: Number(word(/ sample ratio: (\d{1,9})/) ?? 1),
  })
}

function packetOf(raw: Readonly<Record<string, unknown>>): SampledPacket[] {
  const protocol = typeof raw.protocol === 'string' ? cleanText(raw.protocol, 20).toLowerCase() : 'unknown'
  const hasPorts = protocol === 'tcp' || protocol === 'udp'
  const ratio = Math.max(1, amountOf(raw.sampleRatio))
  const packets = Math.max(1, amountOf(raw.packets)) * ratio
  // The length of a flow record is the sum of its packets.
  const bytes = amountOf(raw.length) * ratio
  if (!Number.isSafeInteger(packets) || !Number.isSafeInteger(bytes)) return []
  try {
    return [
      {
        source: parseAddress(String(raw.source)),
        destination: parseAddress(String(raw.destination)),
        sourcePort: hasPorts ? portOf(raw.sourcePort) : undefined,
        destinationPort: hasPorts ? portOf(raw.destinationPort) : undefined,
        protocol,
        tcpFlags: typeof raw.tcpFlags === 'string' ? cleanText(raw.tcpFlags, 60).toLowerCase() : '',
        packets,
        bytes,
      },
    ]
  } catch {
    return []
  }
}

function amountOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function portOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535
    ? (value as number)
    : undefined
}
