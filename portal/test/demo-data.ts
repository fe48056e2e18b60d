// Data directories of the demo that each test copies, so that its demo does not begin with an empty database: made once for these sources,
// by the first of several processes that ask for one.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { freePort } from '../../lab/src/address.ts'
import { dueMonth } from '../../server/src/report/send-reports.ts'
import { tryProcessLock } from '../../server/src/runtime/process-lock.ts'
import { until, waitMs } from './browser.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const main = join(root, 'server/src/main.ts')
const cache = join(root, 'node_modules/.cache/demo-data')
const sources = ['{server,contract}/src/**/*', 'demo/**/*', 'package-lock.json']
/** The demo's attacks and flows are as old as its data; charts of tests show the last hour. */
const ageMaxMs = { plain: 12 * 3_600_000, traffic: 1_800_000 }

export type DemoKind = keyof typeof ageMaxMs

export type DemoProcess = {
  readonly child: ChildProcess
  readonly url: string
  /** What it has printed. */
  readonly output: () => string
}

/** Starts the demo on `data` in the folder and resolves once it listens. */
export async function spawnDemo(
  folder: string,
  kind: DemoKind,
  settings: Readonly<Record<string, string>>,
): Promise<DemoProcess> {
  const child = spawn(process.execPath, [main, 'start', ...(kind === 'traffic' ? [] : ['--no-traffic'])], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: process.env['TMPDIR'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      // Chosen before the start: links in mails contain it.
      PHAROS_PORT: String(await freePort()),
      PHAROS_DNS_LISTEN: `127.0.0.1:${await freePort()}`,
      PHAROS_NETFLOW_LISTEN: '127.0.0.1:0',
      PHAROS_SFLOW_LISTEN: '127.0.0.1:0',
      // Tests share a busy machine.
      PHAROS_HANDLER_TIMEOUT_SECONDS: '300',
      ...settings,
    },
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text))
  for (const end = performance.now() + waitMs; ; await sleep(100)) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0]
    if (url !== undefined) return { child, url, output: () => out }
    if (child.exitCode !== null || performance.now() > end) {
      kill()
      throw new Error(`waited for the demo to listen:\n${out.slice(-3000)}`)
    }
  }
}

/** Ends it as Ctrl-C does. */
export async function endDemo({ child }: DemoProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** Runs statements in the database of a demo that was started in the folder. */
export async function demoQuery(folder: string, ...statements: readonly string[]): Promise<object[]> {
  const file = join(folder, 'data/postgres/postmaster.pid')
  const [, , , port, socketDir] = readFileSync(file, 'utf8').split('\n')
  const client = new Client({ host: socketDir!, port: Number(port), user: 'pharos', database: 'pharos' })
  await client.connect()
  try {
    let rows: object[] = []
    for (const statement of statements) ({ rows } = await client.query<object>(statement))
    return rows
  } finally {
    await client.end()
  }
}

/**
 * Copies the data of a demo that has processed its history to `data` in the folder. One process at a time: the first one makes it, with flows
 * in a minute of processor time.
 */
export async function copyDemoData(folder: string, kind: DemoKind): Promise<void> {
  const name = `${kind}-${hashOfSources()}`
  const made = join(cache, name, 'data')
  mkdirSync(cache, { recursive: true })
  for (const end = performance.now() + 2 * makeMs; ; await sleep(200)) {
    const lock = tryProcessLock(join(cache, `${kind}.lock`))
    if (lock === undefined) {
      if (performance.now() > end) throw new Error(`waited for another process to make ${made}`)
      continue
    }
    try {
      const isFresh = existsSync(made) && Date.now() - statSync(made).birthtimeMs < ageMaxMs[kind]
      if (!isFresh) await makeDemoData(name, kind)
      return void execFileSync('cp', ['-a', made, join(folder, 'data')])
    } finally {
      lock.release()
    }
  }
}

/** The server writes a year of history; on a busy machine that takes far longer than any page. */
const makeMs = 3 * waitMs

/** Replaces data that is too old or was generated by other sources. */
async function makeDemoData(name: string, kind: DemoKind): Promise<void> {
  const unfinished = join(cache, `new-${kind}`)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished)
  const demo = await spawnDemo(unfinished, kind, {})
  try {
    await until(
      'the history of the demo to be processed',
      () => assertProcessed(unfinished, kind, demo.output()),
      makeMs,
    )
  } finally {
    await endDemo(demo)
  }
  for (const one of readdirSync(cache))
    if (one.startsWith(`${kind}-`)) rmSync(join(cache, one), { recursive: true })
  renameSync(unfinished, join(cache, name))
}

async function assertProcessed(folder: string, kind: DemoKind, output: string): Promise<void> {
  const [row] = await demoQuery(
    folder,
    `select (select count(*) from deliveries where state = 'new')::int as deliveries,
      (select count(*) from announcement_regions where state in ('announcing', 'withdrawing'))::int as changing,
      (select count(*) from announcement_regions where state = 'announced')::int as announced,
      (select count(*) from events)::int as events`,
  )
  const { deliveries, changing, announced, events } = row as Record<string, number>
  if (deliveries !== 0 || changing !== 0 || announced === 0 || events === 0)
    throw new Error(JSON.stringify(row))
  if (kind === 'plain') return
  if (!output.includes('Past traffic and light levels: 100 %')) throw new Error('past traffic is written')
  // The mail of the report is the last step, except on the first day of a month, on which none is due.
  if (dueMonth({ timezone: 'UTC', last: null }, Date.now()) === undefined) return
  const mails = join(folder, 'data/mails')
  const isReport = (name: string): boolean =>
    /report-\d{4}-\d\d\.pdf/.test(readFileSync(join(mails, name), 'utf8'))
  if (!readdirSync(mails).some(isReport)) throw new Error('no report was sent')
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync(sources, { cwd: root, exclude: (name) => name.endsWith('.test.ts') }).sort()) {
    const path = join(root, file)
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 16)
}
