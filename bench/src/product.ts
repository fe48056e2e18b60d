// The product as processes of its own, as an operator runs it: the roles that a figure needs, on the bench's database,
// with the default settings but for the limits that protect it from a client like the bench.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Role } from '../../server/src/roles/serve.ts'

export type ProductOptions = {
  readonly roles: readonly Role[]
  readonly databaseUrl: string
  readonly folder: string
  readonly settings?: Readonly<Record<string, string>>
}

export type Product = {
  /** Of its API; empty without that role. */
  readonly url: string
  readonly logFile: string
  /** Microseconds of processor time so far. */
  cpuMicros(): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** What protects the product from us, and what would end while we measure. Everything else is the default. */
const benchSettings = {
  PHAROS_SECRET: 'the-secret-of-the-bench-protects-nothing',
  PHAROS_PORT: '0',
  PHAROS_RATE_LIMIT_PER_SECOND: '1000000',
  PHAROS_RATE_LIMIT_BURST: '10000000',
  PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '100000',
  PHAROS_ACCESS_TOKEN_LIFETIME_SECONDS: '3600',
}

export const benchSecrets: readonly string[] = [benchSettings.PHAROS_SECRET]

let started = 0

/** Resolves when it serves. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { roles, databaseUrl, folder, settings = {} } = options
  const profiles = process.env['PHAROS_BENCH_PROFILE']
  const logFile = join(folder, `product-${++started}.log`)
  const log = openSync(logFile, 'a')
  const child = fork(new URL('serve.ts', import.meta.url), roles, {
    // Nothing of ours but what it needs: a variable that it does not know stops it.
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...benchSettings, DATABASE_URL: databaseUrl, ...settings },
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
  })
  closeSync(log)
  const { url } = await firstMessage<{ url: string }>(child, logFile)
  return {
    url,
    logFile,
    cpuMicros: async () => {
      child.send('cpu')
      return (await firstMessage<{ cpuMicros: number }>(child, logFile)).cpuMicros
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    },
  }
}

async function firstMessage<T>(child: ChildProcess, logFile: string): Promise<T> {
  const stop = new AbortController()
  const { signal } = stop
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error(`the product ended, see ${logFile}`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended])
    return message as T
  } finally {
    ended.catch(() => {})
    stop.abort()
  }
}
