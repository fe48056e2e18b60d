// The product in a separate process, as an operator runs it: `pharos serve` with the roles that a benchmark needs, on
// the bench's database, with the default settings except for the limits against a client like the bench.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram, isRunning } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { nodeFlags } from '../../server/bin/runtime.mjs'
import type { Role } from '../../server/src/runtime/role.ts'
import { cpuMicrosOf, memoryOf, type Memory } from './processor-time.ts'

export type ProductOptions = {
  readonly roles: readonly Role[]
  readonly databaseUrl: string
  readonly folder: string
  readonly settings?: Readonly<Record<string, string>>
}

/** A server under load, in a separate process. */
export type Served = {
  /** URL of its API; empty without that role. */
  readonly url: string
  /** Microseconds of processor time so far, of all its threads; 0 if the system does not report it. */
  cpuMicros(): number
}

export type Product = Served & {
  readonly logFile: string
  /** Memory of the process without its children, such as ClickHouse. */
  memory(): Memory
  /** Listen address of its name server, as address:port; empty without that role. */
  readonly dns: string
  /** Kills it immediately. */
  kill(): Promise<void>
  /** Does the work while the process is stopped. */
  whilePaused(work: () => Promise<unknown>): Promise<void>
} & AsyncDisposable

export const productSecret = 'the-secret-of-the-bench-protects-nothing'

/** Raises the limits that protect the product from the bench, and lifetimes that would end during it. All other settings are the defaults. */
const benchSettings = {
  PHAROS_SECRET: productSecret,
  PHAROS_PORT: '0',
  PHAROS_DNS_LISTEN: '127.0.0.1:0',
  PHAROS_NETFLOW_LISTEN: 'off',
  PHAROS_DRAIN_SECONDS: '0',
  PHAROS_SFLOW_LISTEN: 'off',
  PHAROS_RATE_LIMIT_PER_SECOND: '1000000',
  PHAROS_RATE_LIMIT_BURST: '10000000',
  PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '100000',
  PHAROS_ACCESS_TOKEN_LIFETIME_SECONDS: '3600',
}

const entry = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
let started = 0

/** Resolves when it serves. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { roles, folder } = options
  const logFile = join(folder, `product-${++started}.log`)
  const log = openSync(logFile, 'w')
  const [program = '', ...args] = [
    ...guard(),
    process.execPath,
    ...profiling(),
    ...nodeFlags,
    entry,
    'serve',
    '--role',
    roles.join(),
  ]
  const child = spawn(program, args, { env: environmentOf(options), stdio: ['ignore', log, log] })
  closeSync(log)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isRunning(child)) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }
  const { url, dns } = await waitFor('the product serves', () => servingOf(child, logFile), {
    timeoutMs: 300_000,
  }).catch(async (error: unknown) => {
    await end('SIGKILL')
    throw error
  })
  return {
    url,
    dns,
    logFile,
    cpuMicros: () => cpuMicrosOf(child),
    memory() {
      const found = memoryOf(child)
      if (!found) throw new Error(`the product ended: see ${logFile}`)
      return found
    },
    kill: () => end('SIGKILL'),
    async whilePaused(work) {
      child.kill('SIGSTOP')
      await work().finally(() => child.kill('SIGCONT'))
    },
    [Symbol.asyncDispose]: () => end('SIGTERM'),
  }
}

/** The kernel ends it when the bench dies for any reason. */
function guard(): string[] {
  const setpriv = findProgram('setpriv')
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : []
}

function profiling(): string[] {
  const folder = process.env['PHAROS_BENCH_PROFILE']
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

/** A minimal environment: an unknown PHAROS_ variable would prevent the start. */
function environmentOf({ databaseUrl, settings = {} }: ProductOptions): Record<string, string> {
  const path = process.env['PATH'] ?? ''
  return { PATH: path, TZ: 'UTC', ...benchSettings, DATABASE_URL: databaseUrl, ...settings }
}

function servingOf(child: ChildProcess, logFile: string): { url: string; dns: string } | undefined {
  const lines = readFileSync(logFile, 'utf8').split('\n')
  const line = lines.find((line) => line.includes('"message":"serving"'))
  if (line !== undefined) {
    const { url = '', dns = '' } = JSON.parse(line) as { url?: string; dns?: string }
    return { url, dns }
  }
  if (!isRunning(child)) throw new Error(`the product ended:\n${lines.slice(-20).join('\n')}`)
  return undefined
}
