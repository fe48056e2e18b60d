// D9: signs a zone of 50,000 record sets in the signing thread, and one change of it. Beside it ldns-signzone with the same zone, algorithm
// and chain.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { longestTurn } from '../../lab/src/longest-turn.ts'
import { programPath } from '../../lab/src/program.ts'
import { MemoryZone } from '../../server/src/dns/answer/memory-zone.ts'
import { keySets } from '../../server/src/dns/sign/key-sets.ts'
import { signDelta } from '../../server/src/dns/sign/sign-delta.ts'
import { signInThread } from '../../server/src/dns/sign/sign-in-thread.ts'
import { defaultTimes, type SignatureSettings } from '../../server/src/dns/sign/signature.ts'
import { createSigningKey } from '../../server/src/dns/sign/signing-key.ts'
import { nameToWire, parseName, parseZoneName } from '../../server/src/net/dns/name.ts'
import type { Rrset } from '../../server/src/net/dns/record.ts'
import { recordType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const signZoneBenchmark: Benchmark = {
  id: 'D9',
  name: 'sign-zone',
  title: 'a large zone signed, and one change of it',
  missing: () => missingPrograms('ldns-signzone'),
  run,
}

export const zone = parseZoneName('bench.test.')
const eventLoopMsMax = 50

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 2000 : 50_000
  const signing = createSigning()
  const sets = contentOf(count, signing)
  const peer = preparePeer(bench.folder, count)
  let served = new MemoryZone(zone)
  const { ours, peer: theirs } = await takeTurns(
    bench.rounds,
    async () => {
      const start = performance.now()
      const before = process.cpuUsage()
      const result = await signInThread(zone, sets, signing)
      const { user, system } = process.cpuUsage(before)
      const ms = performance.now() - start
      served = new MemoryZone(zone, result)
      return { ms, cpuMs: (user + system) / 1_000 }
    },
    async () => peer(),
  )
  const changeMs = await measureChange(served, signing, bench.quick ? 50 : 500)
  const [wholeMs, peerMs] = [medianOf(ours, ({ ms }) => ms), medianOf(theirs, ({ ms }) => ms)]
  const [cpuMs, peerCpuMs] = [
    medianOf(ours, (sample) => sample.cpuMs),
    medianOf(theirs, (sample) => sample.cpuMs),
  ]
  // Alone: watching the event loop occupies a core, which the threads would lack.
  const { longestMs: blockedMs } = await longestTurn(() => signInThread(zone, sets, signing))
  return [
    {
      what: `${whole(count)} record sets signed, ECDSA P-256, NSEC`,
      result: milliseconds(wholeMs),
      peer: `${milliseconds(peerMs)} ldns-signzone`,
      ratio: times(peerMs / wholeMs),
      goal: '<= 1x ldns-signzone',
      reached: wholeMs <= peerMs,
    },
    {
      what: 'the same in processor time of all threads, which have a low priority',
      result: milliseconds(cpuMs),
      peer: `${milliseconds(peerCpuMs)} ldns-signzone`,
      ratio: times(peerCpuMs / cpuMs),
      goal: '',
      reached: undefined,
    },
    {
      what: 'longest turn of the event loop meanwhile, processor time',
      result: milliseconds(blockedMs),
      peer: '-',
      ratio: '-',
      goal: `<= ${eventLoopMsMax} ms`,
      reached: blockedMs <= eventLoopMsMax,
    },
    {
      what: 'one change in it signed, in memory',
      result: milliseconds(changeMs),
      peer: '-',
      ratio: '-',
      goal: '<= 3 ms',
      reached: changeMs <= 3,
    },
  ]
}

export const createSigning = (): SignatureSettings => ({
  zone,
  keys: [createSigningKey(13, 'csk')],
  denial: 'nsec',
  now: Date.now() / 1000,
  times: defaultTimes,
})

/** A zone with this many addresses. */
export function contentOf(count: number, { keys }: SignatureSettings): Rrset[] {
  const dnskeys = keys.map(({ dnskey }) => dnskey)
  const server = nameToWire(parseName('ns.bench.test.'))
  const times = Uint8Array.from([0, 0, 0, 1, 0, 0, 14, 16, 0, 0, 3, 132, 0, 18, 117, 0, 0, 0, 1, 44])
  const soa = Uint8Array.from([...server, ...server, ...times])
  const addresses = Array.from({ length: count }, (_, i): Rrset => ({
    name: parseName(`host${i}.bench.test.`),
    type: recordType.A,
    ttl: 300,
    rdata: [Uint8Array.of(192, 0, 2, i % 256)],
  }))
  return [
    { name: zone, type: recordType.SOA, ttl: 3600, rdata: [soa] },
    { name: zone, type: recordType.NS, ttl: 3600, rdata: [server] },
    ...addresses,
    ...keySets(zone, dnskeys, { request: 'none' }, 3600),
  ]
}

/** Returns a function that signs the same zone with ldns, and returns its milliseconds, also of processor time. */
function preparePeer(folder: string, count: number): () => { ms: number; cpuMs: number } {
  const lines = Array.from({ length: count }, (_, i) => `host${i}.bench.test. 300 IN A 192.0.2.${i % 256}`)
  const head = [
    'bench.test. 3600 IN SOA ns.bench.test. ns.bench.test. 1 3600 900 1209600 300',
    'bench.test. 3600 IN NS ns.bench.test.',
  ]
  writeFileSync(join(folder, 'bench.zone'), `${[...head, ...lines].join('\n')}\n`)
  const key = execFileSync(programPath('ldns-keygen'), ['-k', '-a', 'ECDSAP256SHA256', 'bench.test.'], {
    cwd: folder,
  })
  const args = ['-o', 'bench.test.', '-f', 'bench.signed', 'bench.zone', key.toString().trim()]
  return () => {
    const start = performance.now()
    const script = `TIMEFORMAT='%U %S'; time "$@" > bench.out`
    const { stderr } = spawnSync('bash', ['-c', script, 'bash', programPath('ldns-signzone'), ...args], {
      cwd: folder,
    })
    const ms = performance.now() - start
    const times = stderr.toString().trim().split('\n').at(-1)!.split(' ').map(Number)
    return { ms, cpuMs: 1_000 * (times[0]! + times[1]!) }
  }
}

/** Returns the median of a changed, an added and a removed address. */
export async function measureChange(
  served: MemoryZone,
  signing: SignatureSettings,
  rounds: number,
): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) {
    const isNew = round % 2 === 0
    const name = parseName(`${isNew ? 'new' : 'host'}${round >> 2}.bench.test.`)
    const after = { name, type: recordType.A, ttl: 300, rdata: [Uint8Array.of(198, 51, 100, round % 256)] }
    const start = performance.now()
    served.apply((await signDelta(zone, served, [{ name, type: recordType.A, after }], signing))!)
    samples.push(performance.now() - start)
  }
  return medianOf(samples, Number)
}
