// D8: queries per second over UDP, sent by dnsperf: the built-in name server in one process and in two on one port, and
// NSD with the same zone in one process. Then the latency of the built-in one at half of its rate.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPeer } from '../../lab/src/authoritative-peer.ts'
import { quantile } from '../../lab/src/measure.ts'
import { programPath } from '../../lab/src/program.ts'
import { freePort } from '../../lab/src/address.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { hostsFile, importHosts } from './dns-change.ts'
import { startDnsProduct } from './dns-product.ts'
import type { Server } from './dns-probe.ts'
import { nothing, spend, type HotPath } from './guard/hot-path.ts'
import { missingPrograms } from './packages.ts'
import { treeMicros } from './processor-time.ts'
import { startProduct } from './product.ts'
import { milliseconds, perSecond, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const dnsQueries: Benchmark = {
  id: 'D8',
  name: 'dns-queries',
  title: 'questions answered over UDP',
  missing: () => missingPrograms('dnsperf', 'nsd'),
  run,
}

const zone = 'bench.test.'
const hosts = 10_000

/** About a third of a second of NSD's processor time. */
const repeatsOfTurn = 4

export const dnsQueriesPath: HotPath = {
  id: 'D8',
  unit: 'question answered over UDP',
  peer: 'NSD',
  missing: dnsQueries.missing,
  async prepare(bench, stack) {
    const { ours, nsd, ask } = await prepare(bench, stack)
    const answeredBy = async (server: Server) => (await ask(server, { repeats: repeatsOfTurn })).answered
    return {
      ours: () =>
        spend(
          () => ours.product.cpuMicros(),
          nothing,
          () => answeredBy(ours),
        ),
      peer: () =>
        spend(
          () => treeMicros(nsd.pid),
          nothing,
          () => answeredBy(nsd),
        ),
    }
  },
}

async function prepare(bench: Bench, stack: AsyncDisposableStack) {
  const questions = join(bench.folder, 'questions')
  await writeFile(questions, questionsFile())
  const port = await freePort()
  const settings = { PHAROS_DNS_LISTEN: `127.0.0.1:${port}`, PHAROS_DNS_REUSE_PORT: 'true' }
  const ours = stack.use(await startDnsProduct(bench, { settings }))
  await importHosts(ours, hosts, false)
  const soa =
    '@ 3600 SOA ns1.bench.test. hostmaster.bench.test. 1 3600 900 1209600 300\n@ 3600 NS ns1.bench.test.\n'
  const { port: nsdPort, pid, stop } = await startPeer('nsd', { [zone]: soa + hostsFile(hosts) })
  stack.defer(stop)
  const ask = (server: Server, how: How = {}): Promise<Asked> => askAll(bench, questions, server, how)
  return { ours, settings, nsd: { address: '127.0.0.1', port: nsdPort, pid }, ask }
}

async function run(bench: Bench): Promise<Line[]> {
  await using stack = new AsyncDisposableStack()
  const { ours, settings, nsd, ask } = await prepare(bench, stack)
  const one = await takeTurns(
    bench.rounds,
    async () => withCpu(ours.product, () => ask(ours)),
    () => ask(nsd),
  )
  const rate = medianOf(one.ours, ({ perSecond }) => perSecond)
  const peerRate = medianOf(one.peer, ({ perSecond }) => perSecond)
  const half = await ask(ours, { rate: Math.floor(rate / 2) })
  const { databaseUrl } = ours
  const { folder } = bench
  stack.use(await startProduct({ roles: ['nameserver'], databaseUrl, folder, settings }))
  const two = await takeTurns(
    bench.rounds,
    () => ask(ours),
    () => ask(nsd),
  )
  const bothRate = medianOf(two.ours, ({ perSecond }) => perSecond)
  bench.report(
    `processor time of a question: ${medianOf(one.ours, ({ micros }) => micros).toFixed(1)} us; lost: ${whole(Math.max(...one.ours.map(({ lost }) => lost)))}, ` +
      `NSD ${whole(Math.max(...one.peer.map(({ lost }) => lost)))}`,
  )
  const p99 = quantile(half.latencies, 0.99)
  return [
    {
      what: 'questions, one process',
      result: perSecond(rate),
      peer: `${perSecond(peerRate)} NSD`,
      ratio: times(rate / peerRate),
      goal: '>= 0.3x',
      reached: rate >= 0.3 * peerRate,
    },
    {
      what: `latency at half of that, ${perSecond(rate / 2)}`,
      result: `p50 ${milliseconds(quantile(half.latencies, 0.5))}, p99 ${milliseconds(p99)}`,
      peer: '-',
      ratio: '-',
      goal: 'p99 <= 5 ms',
      reached: p99 <= 5,
    },
    {
      what: 'questions, two processes on one port',
      result: perSecond(bothRate),
      peer: `${perSecond(rate)} one process`,
      ratio: times(bothRate / rate),
      goal: '',
      reached: undefined,
    },
  ]
}

/** Names that exist, types that do not, and names that do not, as 8 to 1 to 1. */
function questionsFile(): string {
  const lines = Array.from({ length: hosts }, (_, n) => {
    const host = (n * 7919) % hosts
    if (n % 10 === 8) return `host${host}.${zone} AAAA`
    if (n % 10 === 9) return `none${host}.${zone} A`
    return `host${host}.${zone} A`
  })
  return `${lines.join('\n')}\n`
}

type Asked = {
  readonly answered: number
  readonly perSecond: number
  readonly lost: number
  /** In milliseconds; only at a fixed rate. */
  readonly latencies: readonly number[]
}

/** As many queries as possible in a time, or the file this number of times; or at a fixed rate. */
type How = { readonly rate?: number; readonly repeats?: number }

async function askAll(
  { sliceSeconds }: Bench,
  questions: string,
  { address, port }: Server,
  { rate, repeats }: How,
): Promise<Asked> {
  const args = [
    '-s',
    address,
    '-p',
    String(port),
    '-d',
    questions,
    ...(repeats === undefined ? ['-l', String(Math.min(5, sliceSeconds))] : ['-n', String(repeats)]),
    '-c',
    '16',
    '-q',
    '200',
  ]
  if (rate !== undefined) args.push('-Q', String(rate), '-v')
  const { stdout } = await promisify(execFile)(programPath('dnsperf'), args, { maxBuffer: 1 << 30 })
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1])
  const latencies = [...stdout.matchAll(/^> \S+ \S+ \S+ (\d+\.\d+)$/gm)].map(
    ([, seconds]) => Number(seconds) * 1_000,
  )
  const perSecond = number(/Queries per second:\s+([\d.]+)/)
  if (Number.isNaN(perSecond)) throw new Error(`dnsperf: ${stdout.slice(-2000)}`)
  const answered = number(/Queries completed:\s+(\d+)/)
  return { answered, perSecond, lost: number(/Queries lost:\s+(\d+)/), latencies }
}

async function withCpu(
  product: { cpuMicros(): number },
  ask: () => Promise<Asked>,
): Promise<Asked & { readonly micros: number }> {
  const before = product.cpuMicros()
  const asked = await ask()
  return { ...asked, micros: (product.cpuMicros() - before) / asked.answered }
}
