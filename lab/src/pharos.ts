// The product itself, as a child process on top of the lab's routers: started as an operator would, and killed as a crash
// would. Its database is in the given folder.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isRunning, killAllOf, killProgram } from './program.ts'
import { waitFor } from './wait.ts'

export type PharosOptions = {
  /** Folder of the data directory and the log. */
  readonly folder: string
  readonly platformFile: string
  readonly port: number
  /** Address on which it listens; 127.0.0.1 by default. */
  readonly host?: string
  /** Command line that runs the program: the `command` of a namespace. */
  readonly within?: readonly string[]
  /** Roles of the process; all by default. */
  readonly roles?: readonly string[]
  /** Further settings, such as `PHAROS_RECONCILE_INTERVAL_SECONDS`. */
  readonly settings?: Readonly<Record<string, string>>
}

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const startTimeoutMs = 300_000
const stopTimeoutMs = 30_000

/** The product in one process. `start` after `kill` keeps the data. */
export class Pharos {
  readonly url: string
  readonly logFile: string
  readonly #options: PharosOptions
  #child: ChildProcess | undefined
  #command: ChildProcess | undefined

  constructor(options: PharosOptions) {
    this.#options = options
    this.url = `http://${options.host ?? '127.0.0.1'}:${options.port}`
    this.logFile = join(options.folder, 'pharos.log')
  }

  get dataDir(): string {
    return join(this.#options.folder, 'data')
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Resolves when requests are served. */
  async start(): Promise<void> {
    this.#child = this.#serve()
    const deadline = performance.now() + startTimeoutMs
    while (!(await this.isReady())) {
      if (!isRunning(this.#child)) throw new Error(`Pharos did not start: see ${this.logFile}`)
      if (performance.now() > deadline)
        throw new Error(`Pharos is not ready after ${startTimeoutMs} ms: see ${this.logFile}`)
      await sleep(50)
    }
  }

  /** Starts it without waiting: it is not ready until its database answers. */
  startWithoutDatabase(): void {
    this.#child = this.#serve()
  }

  /** Makes the database match the platform file, as `pharos apply` does, while the server runs. */
  async apply(): Promise<void> {
    const code = await this.command('apply', '-f', this.#options.platformFile, '--yes')
    if (code !== 0) throw new Error(`pharos apply failed: see ${this.logFile}`)
  }

  /** Runs a command of `pharos` beside the server and resolves with its exit code; its output goes to the log. */
  async command(...args: readonly string[]): Promise<number | null> {
    const child = this.#spawn(args)
    this.#command = child
    await once(child, 'exit')
    return child.exitCode
  }

  /** Stops (SIGSTOP) or continues (SIGCONT) it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child) await killProgram(this.#child, signal)
  }

  /** Stops it as systemd does: SIGTERM, then SIGKILL after a timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#command) await killProgram(this.#command, 'SIGKILL')
    const killTimer = setTimeout(() => void this.kill('SIGKILL'), stopTimeoutMs)
    await this.kill('SIGTERM')
    clearTimeout(killTimer)
    // If it was stopped before it served, initdb may continue, in a separate process group.
    await waitFor('all processes of Pharos have ended', () => killAllOf(this.dataDir))
  }

  #serve(): ChildProcess {
    const { roles = ['all'] } = this.#options
    return this.#spawn(['serve', ...roles.flatMap((role) => ['--role', role])])
  }

  #spawn(args: readonly string[]): ChildProcess {
    const { port, host, within = [], settings } = this.#options
    const log = openSync(this.logFile, 'a')
    const [command = '', ...rest] = [...within, process.execPath, main, ...args]
    const child = spawn(command, rest, {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        PHAROS_DATA_DIR: this.dataDir,
        PHAROS_PORT: String(port),
        PHAROS_DNS_LISTEN: '127.0.0.1:0',
        PHAROS_NETFLOW_LISTEN: 'off',
        PHAROS_DRAIN_SECONDS: '0',
        PHAROS_SFLOW_LISTEN: 'off',
        ...(host === undefined ? {} : { PHAROS_HOST: host }),
        ...settings,
      },
      // Ctrl-C reaches the lab alone, which then stops its processes in order.
      detached: true,
    })
    closeSync(log)
    return child
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
  }
}
