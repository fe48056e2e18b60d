// P9b: from a datagram to a row that can be queried, with its rollups: rate, loss and delay. The sender, the collector
// and ClickHouse share the machine. No available program is comparable; the rate of Akvorado per core comes from its
// documentation.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import type { CollectorTotals } from './flow-collector-process.ts'
import { whole } from './table.ts'

export const collectFlows: Benchmark = {
  id: 'P9b',
  name: 'collect-flows',
  title: 'flows from datagrams to rows with rollups: rate, loss and delay',
  missing: () =>
    process.platform === 'linux' ? undefined : 'the processor time of ClickHouse is read from /proc',
  run,
}

const flowsOfDatagram = 20
/** Of https://akvorado.org: flows per second and virtual core. */
const akvoradoPerCore = 4_000
const goalMs = 2_000
const drainMs = 180_000

async function run(bench: Bench): Promise<Line[]> {
  const { rate, seconds } = bench.quick
    ? { rate: 50_000, seconds: 3 }
    : { rate: 500_000, seconds: bench.full ? 600 : 30 }
  const { sent, totals } = await collect(bench, rate, seconds)
  const { rows, rollup, lost, collectorCpuMs, clickhouseCpuMs, delaysMs } = totals
  const sorted = delaysMs.toSorted((a, b) => a - b)
  const delay = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0)
  const perCore = rows / ((collectorCpuMs + clickhouseCpuMs) / 1000)
  bench.report(
    `${whole(sent)} flows sent in ${seconds} s, ${whole(rows)} rows, ${whole(rollup)} in the rollup, ${whole(lost)} datagrams or rows lost; ` +
      `collector ${(collectorCpuMs / 1000).toFixed(1)} and ClickHouse ${(clickhouseCpuMs / 1000).toFixed(1)} CPU-s; ` +
      `queryable after ${delay(0.5)} ms (median), ${delay(1)} ms (longest)`,
  )
  const isWhole = rows === sent && rollup === sent
  return [
    {
      what: `${whole(rate)} flows/s for ${seconds} s`,
      result: `${whole(sent - rows)} lost, ${whole(perCore)} flows/CPU-s`,
      peer: `${whole(akvoradoPerCore)}/s a core, Akvorado, published`,
      ratio: `${Math.round(perCore / akvoradoPerCore)}x`,
      goal: 'none lost, rows = rollups',
      reached: isWhole,
    },
    {
      what: 'first flow of a batch to its rows',
      result: `${delay(0.5)} ms, longest ${delay(1)} ms`,
      peer: '-',
      ratio: '-',
      goal: `<= ${goalMs} ms`,
      reached: delay(1) <= goalMs,
    },
  ]
}

async function collect(bench: Bench, rate: number, seconds: number) {
  const cluster = await bench.cluster()
  const postgres = await cluster.database('flows', async (client) => {
    await client.query("insert into teams (slug, name) values ('one', 'One')")
    await client.query("insert into prefixes (team_id, prefix) values (1, '203.0.0.0/16')")
  })
  const dataDir = join(bench.folder, 'flows')
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  const collector = start('flow-collector-process.ts', [], {
    DATABASE_URL: postgres.databaseUrl,
    DATA_DIR: dataDir,
  })
  try {
    await once(collector, 'message')
    const before = await totalsOf(collector)
    const datagrams = Math.ceil(rate / flowsOfDatagram)
    const sender = start('flow-sender-process.ts', [
      String(before.port),
      String(datagrams),
      String(seconds),
      'ipfix',
    ])
    let printed = ''
    sender.stdout!.on('data', (text: Buffer) => (printed += text.toString()))
    await once(sender, 'close')
    const sent = Number(printed.trim()) * flowsOfDatagram
    const deadline = performance.now() + drainMs
    let [totals, last] = [await totalsOf(collector), -1]
    // Until all rows are there, or their number is stable.
    while (
      totals.rows < sent &&
      (totals.waitingFiles > 0 || totals.rows !== last) &&
      performance.now() < deadline
    ) {
      last = totals.rows
      await sleep(3_000)
      totals = await totalsOf(collector)
    }
    const cpu = (name: 'collectorCpuMs' | 'clickhouseCpuMs') => totals[name] - before[name]
    return {
      sent,
      totals: { ...totals, collectorCpuMs: cpu('collectorCpuMs'), clickhouseCpuMs: cpu('clickhouseCpuMs') },
    }
  } finally {
    const exit = once(collector, 'exit')
    collector.send('stop')
    await exit
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

function start(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return fork(new URL(script, import.meta.url), [...args], {
    env: { ...process.env, ...env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
}

async function totalsOf(collector: ChildProcess): Promise<CollectorTotals> {
  collector.send('totals')
  const [totals] = (await once(collector, 'message')) as [CollectorTotals]
  return totals
}
