// P9a: flows received and decoded, with the owner of each, per second of processor time. Compared with nfcapd, which
// writes the same flows to a file. Both get the same datagrams at the same rate; processor time is comparable on a
// loaded machine.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../lab/src/measure.ts'
import { programPath } from '../../lab/src/program.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import type { ReceiverTotals } from './flow-receiver-process.ts'
import { missingPrograms } from './packages.ts'
import { cpuMicrosOf } from './processor-time.ts'
import { times } from './table.ts'

export const receiveFlows: Benchmark = {
  id: 'P9a',
  name: 'receive-flows',
  title: 'flows received, decoded and with their owner, per second of processor time',
  missing: () => missingPrograms('nfcapd'),
  run,
}

type Protocol = 'ipfix' | 'v5'
type Load = { readonly protocol: Protocol; readonly rate: number; readonly seconds: number }
type Measured = { readonly flows: number; readonly cpuMs: number; readonly lost: number }

const flowsIn = { ipfix: 20, v5: 30 }
const goals = {
  ipfix: { recvmmsg: 1.5, dgram: 0.7 },
  v5: { recvmmsg: 0.9, dgram: 0.35 },
}

async function run(bench: Bench): Promise<Line[]> {
  const seconds = bench.quick ? 1 : 4
  const rounds = bench.quick ? 1 : Math.max(bench.rounds, 3)
  const lines: Line[] = []
  for (const protocol of ['ipfix', 'v5'] as const) {
    const load = { protocol, rate: bench.quick ? 5_000 : 50_000, seconds }
    const results: Record<'nfcapd' | 'recvmmsg' | 'dgram', Measured[]> = {
      nfcapd: [],
      recvmmsg: [],
      dgram: [],
    }
    for (let round = 0; round < rounds; round++) {
      results.nfcapd.push(await measureNfcapd(bench.folder, load))
      results.recvmmsg.push(await measureOurs('recvmmsg', load))
      results.dgram.push(await measureOurs('dgram', load))
    }
    for (const kind of ['recvmmsg', 'dgram'] as const)
      lines.push(lineOf(load, kind, results[kind], results.nfcapd))
  }
  return lines
}

/** Millions of flows per second of processor time. */
const speedOf = (measured: readonly Measured[]): number =>
  median(measured.map(({ flows, cpuMs }) => flows / cpuMs / 1000))

const lostOf = (measured: readonly Measured[]): number => measured.reduce((sum, { lost }) => sum + lost, 0)

function lineOf(
  { protocol, rate }: Load,
  kind: 'recvmmsg' | 'dgram',
  ours: readonly Measured[],
  peer: readonly Measured[],
): Line {
  const [own, theirs] = [speedOf(ours), speedOf(peer)]
  const goal = goals[protocol][kind]
  const text = (value: number, lost: number) =>
    `${value.toFixed(1)} M/CPU-s${lost === 0 ? '' : `, ${lost} lost`}`
  return {
    what: `${protocol}, ${kind}, ${(rate * flowsIn[protocol]) / 1000} k flows/s`,
    result: text(own, lostOf(ours)),
    peer: `nfcapd ${text(theirs, lostOf(peer))}`,
    ratio: times(own / theirs),
    goal: `>= ${goal}x`,
    reached: own / theirs >= goal,
  }
}

async function measureOurs(kind: string, load: Load): Promise<Measured> {
  const receiver = fork(new URL('flow-receiver-process.ts', import.meta.url), [kind], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  try {
    const [port] = (await once(receiver, 'message')) as [number]
    // The first millions of flows compile.
    const warm = await send(port, { ...load, seconds: 1.5 * load.seconds })
    const before = await totalsOf(receiver, warm)
    const sent = await send(port, load)
    const after = await totalsOf(receiver, warm + sent)
    const flows = after.flows - before.flows
    return { flows, cpuMs: after.cpuMs - before.cpuMs, lost: sent - flows }
  } finally {
    receiver.kill('SIGKILL')
  }
}

/** Queries until all flows have arrived, or no more arrive. */
async function totalsOf(receiver: ChildProcess, expected: number): Promise<ReceiverTotals> {
  let last = -1
  for (;;) {
    receiver.send('totals')
    const [totals] = (await once(receiver, 'message')) as [ReceiverTotals]
    if (totals.flows >= expected || totals.flows === last) return totals
    last = totals.flows
    await sleep(500)
  }
}

async function measureNfcapd(folder: string, load: Load): Promise<Measured> {
  const files = join(folder, 'nfcapd')
  mkdirSync(files, { recursive: true })
  const port = await freePort()
  const args = ['-w', files, '-p', String(port), '-b', '127.0.0.1', '-t', '3600', '-B', String(32 * 2 ** 20)]
  const child = spawn(programPath('nfcapd'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    await sleep(1000)
    await send(port, { ...load, seconds: 1 })
    await sleep(1000)
    const before = cpuMicrosOf(child)
    const sent = await send(port, load)
    await sleep(1000)
    const cpuMs = (cpuMicrosOf(child) - before) / 1_000
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    const total = Number(/Flows: (\d+)/.exec(output)?.[1] ?? 0)
    const warm = load.rate * flowsIn[load.protocol]
    return { flows: total - warm, cpuMs, lost: sent + warm - total }
  } finally {
    child.kill('SIGKILL')
    rmSync(files, { recursive: true, force: true })
  }
}

/** Returns the number of flows sent. */
async function send(port: number, { protocol, rate, seconds }: Load): Promise<number> {
  const script = new URL('flow-sender-process.ts', import.meta.url).pathname
  const sender = spawn(process.execPath, [script, String(port), String(rate), String(seconds), protocol], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  sender.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(sender, 'close')) as [number]
  if (code !== 0) throw new Error('the sender failed')
  return Number(output) * flowsIn[protocol]
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}
