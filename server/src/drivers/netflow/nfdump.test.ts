// The same datagrams to the decoder and to nfcapd and sfcapd (nfdump), and the same flows from both.
import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { freePort } from '@pharos/lab/address'
import { programPath, skipWithout } from '@pharos/lab/program'
import { createDecoder } from './decoder.ts'
import {
  decodeAll,
  flowSample,
  ipOctets,
  ipfix,
  pack,
  rawHeader,
  set,
  sflowDatagram,
  template,
  u16,
  u32,
  u8,
  v5,
  v9,
  type TemplateField,
  type Part,
  type FlowRow,
} from './testing.ts'
import { until } from '../../../../lab/src/wait.ts'

type Known = {
  readonly src: string
  readonly dst: string
  readonly srcPort: number
  readonly dstPort: number
  readonly protocol: number
  readonly flags: number
  readonly tos: number
  readonly inIf: number
  readonly outIf: number
  readonly srcAs: number
  readonly dstAs: number
  readonly octets: number
  readonly packets: number
}

const octet = fc.integer({ min: 1, max: 254 })
const address4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'))
const address6 = fc
  .tuple(fc.integer({ min: 1, max: 0xff_ff }), fc.integer({ min: 1, max: 0xff_ff }))
  .map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`)

/** A packet has at most 1,500 octets. */
const knownArb = (address: fc.Arbitrary<string>, largest: number) =>
  fc
    .record({
      src: address,
      dst: address,
      srcPort: fc.integer({ min: 1, max: 65_535 }),
      dstPort: fc.integer({ min: 1, max: 65_535 }),
      // Without ICMP: nfdump prints its type and code in separate fields.
      protocol: fc.constantFrom(6, 17, 132),
      flags: fc.nat(63),
      tos: fc.nat(255),
      inIf: fc.nat(65_535),
      outIf: fc.nat(65_535),
      srcAs: fc.nat(65_535),
      dstAs: fc.nat(65_535),
      octets: fc.integer({ min: 40, max: largest }),
      packets: fc.integer({ min: 1, max: Math.floor(largest / 1_000) }),
    })
    .map((one) => ({ ...one, octets: Math.min(one.octets, one.packets * 1_500) }))

const sample = (address: fc.Arbitrary<string>, count: number, largest = 2 ** 32 - 1): Known[] =>
  fc.sample(knownArb(address, largest), { numRuns: count, seed: 7 })

/** Elements and lengths in which exporters send these fields; 8 octets are beyond 32 bits. */
const layouts: Record<string, readonly TemplateField[]> = {
  short: [
    [8, 4],
    [12, 4],
    [7, 2],
    [11, 2],
    [4, 1],
    [6, 1],
    [5, 1],
    [10, 2],
    [14, 2],
    [16, 2],
    [17, 2],
    [1, 4],
    [2, 4],
  ],
  long: [
    [16, 4],
    [17, 4],
    [1, 8],
    [2, 8],
    [27, 16],
    [28, 16],
    [10, 4],
    [14, 4],
    [4, 1],
    [5, 1],
    [6, 1],
    [7, 2],
    [11, 2],
  ],
}

function encode(fields: readonly TemplateField[], known: Known): Uint8Array {
  const values: Record<number, number> = {
    7: known.srcPort,
    11: known.dstPort,
    4: known.protocol,
    6: known.flags,
    5: known.tos,
    10: known.inIf,
    14: known.outIf,
    16: known.srcAs,
    17: known.dstAs,
    1: known.octets,
    2: known.packets,
  }
  return pack(
    ...fields.map(([element, length]): Part => {
      if (element === 8 || element === 27) return ipOctets(known.src)
      return element === 12 || element === 28 ? ipOctets(known.dst) : [values[element]!, length]
    }),
  )
}

/** Templates in the first message only, then 20 records in each. */
function messages(
  build: typeof v9,
  setId: number,
  id: number,
  fields: readonly TemplateField[],
  flows: readonly Known[],
) {
  const messages = [build({ sequence: 0 }, set(setId, template(id, ...fields)))]
  for (let at = 0; at < flows.length; at += 20) {
    const records = flows.slice(at, at + 20).map((one) => encode(fields, one))
    messages.push(build({ sequence: build === v9 ? messages.length : at }, set(id, ...records)))
  }
  return messages
}

const tcp = (known: Known) =>
  pack(u16(known.srcPort), u16(known.dstPort), u32(1), u32(2), u8(0x50), u8(known.flags), u16(0), u32(0))

const frame = (known: Known, length: number) =>
  pack(
    new Uint8Array(12),
    u16(0x0800),
    u8(0x45),
    u8(known.tos),
    u16(length),
    u32(0),
    u8(64),
    u8(known.protocol),
    u16(0),
    ipOctets(known.src),
    ipOctets(known.dst),
    tcp(known),
  )

type Dumped = Readonly<Record<string, string | number>>

type Collector = 'nfcapd' | 'sfcapd'

/** Sends datagrams to nfcapd or sfcapd, and returns the records that nfdump reads from its file. */
async function dump(program: Collector, datagrams: readonly Uint8Array[]): Promise<Dumped[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-nfdump-'))
  const port = await freePort()
  const collector = spawn(
    programPath(program),
    ['-w', folder, '-p', String(port), '-b', '127.0.0.1', '-t', '3600'],
    {
      stdio: 'ignore',
    },
  )
  try {
    await until(() => readFileSync('/proc/net/udp', 'utf8').includes(`0100007F:${hex(port)} `))
    const socket = createSocket('udp4')
    for (const datagram of datagrams) {
      await new Promise((resolve) => socket.send(datagram, port, '127.0.0.1', resolve))
    }
    socket.close()
    // Its receive buffer is empty once everything was read.
    await until(() => isEmpty(port))
    await end(collector)
    const text = execFileSync(programPath('nfdump'), ['-R', folder, '-o', 'json', '-q'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    return JSON.parse(`[${text.trim().replace(/^\[|\]$/g, '')}]`) as Dumped[]
  } finally {
    collector.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

/** A signal that arrives between the collector's look at its flag and its wait for a datagram has no effect until the next one. */
async function end(collector: ChildProcess): Promise<void> {
  const exit = once(collector, 'exit')
  collector.kill('SIGTERM')
  const again = setInterval(() => collector.kill('SIGTERM'), 500)
  await exit
  clearInterval(again)
}

/** Whether the receive buffer of a socket on loopback is empty: its queues are the fifth column, `tx:rx`. */
function isEmpty(port: number): boolean {
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n')
  const line = lines.find((one) => one.includes(`0100007F:${hex(port)} `))
  return line?.trim().split(/\s+/)[4]?.endsWith(':00000000') === true
}

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')

const flagsOf = (text: string): number =>
  Array.from(text.slice(-6)).reduce((sum, letter, i) => sum + (letter === '.' ? 0 : 2 ** (5 - i)), 0)

const number = (value: string | number | undefined): number => Number(value ?? 0)

const fromDump = (one: Dumped) =>
  [
    one['src4_addr'] ?? one['src6_addr'],
    one['dst4_addr'] ?? one['dst6_addr'],
    ...[
      'src_port',
      'dst_port',
      'proto',
      'input_snmp',
      'output_snmp',
      'src_as',
      'dst_as',
      'in_bytes',
      'in_packets',
    ].map((name) => number(one[name])),
    flagsOf(String(one['tcp_flags'])),
    number(one['src_tos']) >> 2,
  ].join(' ')

/** sfcapd multiplies by the sampling rate and counts the frame, which has 18 octets more than the packet; nfcapd does neither. */
const fromRow = (row: FlowRow, isFrame: boolean) => {
  const [factor, overhead] = isFrame ? [number(row['rate']), 18] : [1, 0]
  return [
    row['src'],
    row['dst'],
    ...['srcPort', 'dstPort', 'protocol', 'inIf', 'outIf', 'srcAs', 'dstAs'].map((name) => row[name]),
    (number(row['octets']) + overhead) * factor,
    number(row['packets']) * factor,
    row['tcpFlags'],
    row['dscp'],
  ].join(' ')
}

async function compare(program: Collector, datagrams: readonly Uint8Array[], count: number): Promise<void> {
  const decoder = createDecoder()
  const rows = decodeAll(decoder, datagrams)
  assert.equal(rows.length, count)
  assert.equal(decoder.counters.sequenceGaps, 0)
  const dumped = await dump(program, datagrams)
  assert.deepEqual(
    rows.map((row) => fromRow(row, program === 'sfcapd')).toSorted(),
    dumped.map(fromDump).toSorted(),
  )
}

describe('nfcapd and the decoder agree on', { timeout: 300_000 }, () => {
  const skip = skipWithout('nfcapd', 'nfdump')

  it('NetFlow v5', { skip }, async () => {
    const flows = sample(address4, 300)
    const datagrams = []
    for (let at = 0; at < flows.length; at += 30)
      datagrams.push(v5({ sequence: at }, ...flows.slice(at, at + 30)))
    await compare('nfcapd', datagrams, 300)
  })

  it('NetFlow v9 and IPFIX over IPv4 and IPv6, with 32 and 64 bits', { skip }, async () => {
    const four = sample(address4, 200)
    const six = sample(address6, 200, 2 ** 42)
    for (const [build, setId] of [
      [v9, 0],
      [ipfix, 2],
    ] as const) {
      await compare('nfcapd', messages(build, setId, 300, layouts['short']!, four), 200)
      await compare('nfcapd', messages(build, setId, 301, layouts['long']!, six), 200)
    }
  })
})

describe('sfcapd and the decoder agree on', { timeout: 300_000 }, () => {
  it('samples of packets', { skip: skipWithout('sfcapd', 'nfdump') }, async () => {
    const flows = sample(address4, 100).map((one) => ({ ...one, protocol: 6 }))
    const datagrams = flows.map((one, i) =>
      sflowDatagram({ sequence: i + 1 }, flowSample(64 + i, rawHeader(1, 100 + i, frame(one, 82 + i)))),
    )
    await compare('sfcapd', datagrams, 100)
  })
})
