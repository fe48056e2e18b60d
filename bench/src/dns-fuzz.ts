// D12: mutated messages, record data and zone files for the decoders. Each is decoded or refused with the decoder's own
// error, takes at most 50 ms of processor time, and the memory does not grow. There is no peer.
import { TsigError } from '../../server/src/net/dns/tsig.ts'
import { decodeTsig } from '../../server/src/net/dns/tsig-record.ts'
import { parseZoneFile } from '../../server/src/dns/zone-file/zone-file.ts'
import { MessageError, decodeMessage, emptyMessage } from '../../server/src/net/dns/message.ts'
import { encodeMessage } from '../../server/src/net/dns/message-writer.ts'
import { parseName } from '../../server/src/net/dns/name.ts'
import { RdataError, parseRdata, printRdata, validateRdata } from '../../server/src/net/dns/rdata/rdata.ts'
import { validData } from '../../server/src/net/dns/rdata/testing-corpus.ts'
import { recordsOf } from '../../server/src/net/dns/record.ts'
import { findType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { milliseconds, whole } from './table.ts'

export const dnsFuzz: Benchmark = {
  id: 'D12',
  name: 'dns-fuzz',
  title: 'mutated DNS messages, record data and zone files',
  missing: () => undefined,
  run,
}

const origin = parseName('example.')
const inputMsMax = 50
const growthMax = 64 * 1024 * 1024

type Target = {
  readonly name: string
  readonly seeds: readonly Uint8Array[]
  readonly read: (octets: Uint8Array) => void
}

const samples = validData.map((line) => {
  const [mnemonic = '', ...rest] = line.replace(/ => .*/, '').split(' ')
  const type = findType(mnemonic)!
  return { type, line, rdata: parseRdata(type, rest.join(' '), { origin }) }
})

const targets: readonly Target[] = [
  {
    name: 'messages',
    seeds: samples.map(({ type, rdata }) =>
      encodeMessage({
        ...emptyMessage,
        questions: [{ name: origin, type, class: 1 }],
        answers: recordsOf({ name: origin, type, ttl: 60, rdata: [rdata, rdata] }),
        edns: { udpSize: 1232, version: 0, do: true, options: [{ code: 10, data: new Uint8Array(8) }] },
      }),
    ),
    read(octets) {
      for (const { type, rdata } of decodeMessage(octets).answers) attempt(() => validateRdata(type, rdata))
    },
  },
  {
    name: 'record data and TSIG',
    seeds: samples.map(({ type, rdata }) => Buffer.concat([Uint8Array.of(type >> 8, type), rdata])),
    read(octets) {
      const [high = 0, low = 0] = octets
      printRdata(high * 256 + low, octets.subarray(2))
      decodeTsig(octets)
    },
  },
  {
    name: 'zone files',
    seeds: samples.map(({ line }) =>
      Buffer.from(`$TTL 60\nname ${line.replace(/ => .*/, '')}\n( next ) TXT "a" b ; c\n`, 'latin1'),
    ),
    read: (octets) => void parseZoneFile(octets, { origin }),
  },
]

const pieces = [
  '"',
  '\\',
  '(',
  ')',
  ';',
  '\n',
  ' ',
  '$',
  '$GENERATE 1-9 ',
  '\0',
  '\u00c0\u000c',
  '\u00ff\u00ff',
  '\\#',
  '.',
  '99999999999',
].map((text) => Buffer.from(text, 'latin1'))

async function run(bench: Bench): Promise<Line[]> {
  const inputs = bench.quick ? 200_000 : bench.brief ? 1_000_000 : 10_000_000
  const random = createRandom(20_261_122)
  const slowest = { ms: 0, target: '' }
  for (let at = 0; at < 20_000; at++) readOne(targets[at % 3]!, random)
  const before = process.memoryUsage()
  const startMs = cpuMs()
  let lastMs = startMs
  for (let at = 0; at < inputs; at++) {
    const target = targets[at % targets.length]!
    readOne(target, random)
    // The clock is read every hundred inputs, so the figure is an upper bound for each of them.
    if (at % 100 !== 99) continue
    const now = cpuMs()
    if (now - lastMs > slowest.ms) Object.assign(slowest, { ms: now - lastMs, target: target.name })
    lastMs = now
  }
  const grown = process.memoryUsage().rss - before.rss
  bench.report(`${whole(inputs / ((cpuMs() - startMs) / 1_000))} inputs a second of processor time`)
  return [
    {
      what: `${whole(inputs)} mutated inputs, 100 of them at a time`,
      result: `${milliseconds(slowest.ms)} at most, ${whole(Math.max(0, grown) / 1024 / 1024)} MB more memory`,
      peer: '-',
      ratio: '-',
      goal: '<= 50 ms, <= 64 MB',
      reached: slowest.ms <= inputMsMax && grown <= growthMax,
    },
  ]
}

function readOne({ seeds, read }: Target, random: (below: number) => number): void {
  const octets = mutate(seeds[random(seeds.length)]!, random)
  attempt(() => read(octets))
}

/** Rethrows other errors than the decoders' own. */
function attempt(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof MessageError || error instanceof RdataError || error instanceof TsigError))
      throw error
  }
}

/** One to four edits: a changed octet, an inserted piece, a removed or a repeated part. */
function mutate(seed: Uint8Array, random: (below: number) => number): Uint8Array {
  let octets = Uint8Array.from(seed)
  for (let edits = 1 + random(4); edits > 0; edits--) {
    const at = random(octets.length + 1)
    const kind = random(4)
    if (kind === 0) octets[at] = random(256)
    else {
      const piece =
        kind === 1
          ? pieces[random(pieces.length)]!
          : kind === 2
            ? octets.subarray(at, at + random(20))
            : new Uint8Array()
      const removed = kind === 3 ? random(8) : 0
      octets = Buffer.concat([octets.subarray(0, at), piece, octets.subarray(at + removed)])
    }
  }
  return octets
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Returns a generator of numbers below a bound (xorshift), the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
