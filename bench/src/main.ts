// `npm run bench [-- names] [--quick]`: measures the named benchmarks, or all, each alternating with its peer, and prints one table
// with the goals.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findProgram } from '../../lab/src/program.ts'
import { startCluster, type Cluster } from './cluster.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'
import { runGuard } from './guard/guard.ts'
import type { HotPath } from './guard/hot-path.ts'
import { hotPaths } from './guard/paths.ts'
import { describeLoad, describeMachine, versionOf } from './machine.ts'
import { installPeers } from './packages.ts'
import { findPgbench } from './pgbench.ts'
import { renderTable, type NamedLine } from './table.ts'

const usage = `usage: npm run bench [-- name ... | guard [id ...]] [--quick | --table | --full] [--dir folder] [--clients n] [--seconds n] [--rounds n]
  guard      processor time of the hot paths, beside their peers; fails below its thresholds. Names of paths follow it
  --quick    small sizes and short slices: tests that it works, not how fast it is
  --table    all of them with short slices, and P2 and D12 at a tenth of their size
  --full     the largest sizes of D7 and D11, which take up to an hour
  --dir      keeps the databases and the logs in a folder, for the next run
  PHAROS_BENCH_PROFILE: a folder for CPU profiles of the product
  PHAROS_BENCH_DATABASE_URL: a PostgreSQL other than the embedded one, as a user who may create databases
benchmarks:
${benchmarks.map(({ id, name, title }) => `  ${id}  ${name.padEnd(20)} ${title}`).join('\n')}
`

const fullDefaults = { rounds: 3, seconds: 8, clients: 16 }
const tableDefaults = { rounds: 2, seconds: 4, clients: 16 }
const quickDefaults = { rounds: 1, seconds: 1, clients: 16 }
/** A client of pgbench costs some milliseconds to connect, in each turn. */
const guardDefaults = { rounds: 5, seconds: 1, clients: 8 }

class UsageError extends Error {}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      table: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      dir: { type: 'string' },
      clients: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return print(usage)
  const isGuard = positionals[0] === 'guard'
  const paths = isGuard ? choosePaths(positionals.slice(1)) : []
  const chosen = isGuard ? [] : choose(positionals)
  const defaults = defaultsOf({ ...values, isGuard })
  await installPeers()
  await using stack = new AsyncDisposableStack()
  const folder = values.dir ?? (await mkdtemp(join(tmpdir(), 'pharos-bench-')))
  await mkdir(folder, { recursive: true })
  if (values.dir === undefined) stack.defer(() => rm(folder, { recursive: true, force: true }))
  let cluster: Promise<Cluster> | undefined
  stack.defer(async () => (await cluster)?.[Symbol.asyncDispose]())
  const bench: Bench = {
    quick: values.quick || isGuard,
    brief: values.table,
    full: values.full,
    rounds: Number(values.rounds ?? defaults.rounds),
    sliceSeconds: Number(values.seconds ?? defaults.seconds),
    clients: Number(values.clients ?? defaults.clients),
    folder,
    report: (text) => print(`  ${text}\n`),
    cluster: () =>
      (cluster ??= startCluster({
        dataDir: join(folder, 'postgres'),
        databaseUrl: process.env['PHAROS_BENCH_DATABASE_URL'],
        report: bench.report,
      })),
  }
  describe(bench)
  if (isGuard) {
    if (!(await runGuard(bench, paths))) process.exitCode = 1
    return
  }
  const lines: NamedLine[] = []
  for (const benchmark of chosen) {
    const measured = await measure(benchmark, bench)
    if (measured.length > 0) print(`\n${renderTable(measured)}`)
    lines.push(...measured)
  }
  if (cluster) print(`\n${(await cluster).version}\n`)
  if (chosen.length > 1) print(`\n${renderTable(lines)}`)
  if (values.quick) print('\n--quick: these sizes and times are too small for conclusions.\n')
}

type Choice = { readonly quick: boolean; readonly table: boolean; readonly isGuard: boolean }

const defaultsOf = ({ quick, table, isGuard }: Choice) =>
  isGuard ? guardDefaults : quick ? quickDefaults : table ? tableDefaults : fullDefaults

function choose(names: readonly string[]): readonly Benchmark[] {
  const unknown = names.filter((name) => !benchmarks.some((benchmark) => isNamed(benchmark, name)))
  if (unknown.length > 0) throw new UsageError(`unknown benchmark ${unknown.join(', ')}\n${usage}`)
  if (names.length === 0) return benchmarks
  return benchmarks.filter((benchmark) => names.some((name) => isNamed(benchmark, name)))
}

/** The paths of the guard with these ids, or all. */
function choosePaths(ids: readonly string[]): readonly HotPath[] {
  const wanted = ids.map((id) => id.toLowerCase())
  const chosen = hotPaths.filter(({ id }) => wanted.includes(id.toLowerCase()))
  if (chosen.length < wanted.length)
    throw new UsageError(`the guard knows the paths ${hotPaths.map(({ id }) => id).join(', ')}`)
  return wanted.length === 0 ? hotPaths : chosen
}

const isNamed = ({ id, name }: Benchmark, text: string): boolean =>
  name === text || id.toLowerCase() === text.toLowerCase()

function describe({ quick, clients, rounds, sliceSeconds }: Bench): void {
  print(`${describeMachine()}; ${describeLoad()}
node ${process.version}; ${versionOf(findPgbench(), '--version')}; ${versionOf(findProgram('gobgpd'), '--version')}
${clients} clients, ${rounds} rounds of ${sliceSeconds} s${quick ? ', --quick' : ''}
`)
}

async function measure(benchmark: Benchmark, bench: Bench): Promise<NamedLine[]> {
  const { id, name, title } = benchmark
  print(`\n${id} ${name}: ${title}; ${describeLoad()}\n`)
  const missing = benchmark.missing()
  if (missing !== undefined) {
    bench.report(`skipped: ${missing}`)
    return []
  }
  const begun = performance.now()
  const lines = await benchmark.run(bench).catch((error: Error) => [failed(bench, name, error)])
  bench.report(`${describeLoad()}; ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
  return lines.map((line) => ({ id, line }))
}

/** The other benchmarks are still measured. */
function failed(bench: Bench, name: string, error: Error): Line {
  bench.report(`${error.stack}`)
  process.exitCode = 1
  return { what: `${name} failed`, result: '-', peer: '-', ratio: '-', goal: 'measured', reached: false }
}

function print(text: string): void {
  process.stdout.write(text)
}

try {
  await main()
} catch (error) {
  const isUsage = error instanceof UsageError
  const text = error instanceof Error && !isUsage ? error.stack : (error as Error).message
  process.stderr.write(`${text}\n`)
  process.exitCode = isUsage ? 64 : 1
}
