// Runs the product as a separate process, started like in production, so that tests can kill it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../lab/src/address.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const startTimeoutMs = 300_000
const stopTimeoutMs = 120_000
/** Timeout of one request: another process may have taken the port and never respond. */
const readyTimeoutMs = 10_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export type ServerOptions = {
  /** The log file, and the compile cache of node, which makes a second start faster. */
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  /** Default all. */
  readonly roles?: readonly string[]
  /** `main.ts` of another checkout, instead of this one. */
  readonly program?: string
}

/** A `pharos serve` process whose port stays the same across restarts. */
export class ServerProcess {
  readonly url: string
  readonly #options: ServerOptions
  readonly #port: number
  #child: ChildProcess | undefined

  private constructor(port: number, options: ServerOptions) {
    this.#port = port
    this.#options = options
    this.url = `http://127.0.0.1:${port}`
  }

  static async create(options: ServerOptions): Promise<ServerProcess> {
    return new ServerProcess(await freePort(), options)
  }

  /** The end of its log, across restarts. */
  get lastOutput(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').slice(-5_000) : ''
  }

  get #log(): string {
    return join(this.#options.folder, `server-${this.#port}.log`)
  }

  /** Resolves when the process reports that it is ready. */
  async start(): Promise<void> {
    const child = this.#spawn()
    this.#child = child
    for (const start = performance.now(); !(await this.isReady()); await sleep(20)) {
      if (child.exitCode !== null || performance.now() - start > startTimeoutMs)
        throw new Error('the server did not start')
    }
  }

  /** Sends a signal and does not wait for its effect. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Resolves with the exit status of a process that ends by itself or was signalled; null if a signal ended it. */
  async exit(): Promise<number | null> {
    const child = this.#child!
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return child.exitCode
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    let isLate = false
    const late = setTimeout(() => (isLate = child.kill('SIGKILL')), stopTimeoutMs)
    await exit
    clearTimeout(late)
    if (isLate) throw new Error(`the server did not end within ${stopTimeoutMs} ms:\n${this.lastOutput}`)
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(readyTimeoutMs) }).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  #spawn(): ChildProcess {
    const { folder, settings, roles = ['all'], program = main } = this.#options
    const log = openSync(this.#log, 'a')
    const child = spawn(process.execPath, [program, 'serve', '--role', roles.join()], {
      stdio: ['ignore', log, log],
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled'),
        PHAROS_PORT: String(this.#port),
        PHAROS_DNS_LISTEN: '127.0.0.1:0',
        PHAROS_NETFLOW_LISTEN: 'off',
        PHAROS_DRAIN_SECONDS: '0',
        PHAROS_SFLOW_LISTEN: 'off',
        PHAROS_LOG_LEVEL: 'warn',
        ...settings,
      },
    })
    closeSync(log)
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }
}
