// Runs chDB as a child process behind a unix socket, so that flows are stored without any set-up. As with the embedded
// PostgreSQL, one process owns it (by the lock beside the data directory) and all others attach; a child whose owner
// was killed ends by itself. chDB is not loaded into this process: it cannot cancel statements, and its crash would end
// the control of routes.
import { spawn, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import { availableParallelism, totalmem } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DriverError } from '../../runtime/driver-error.ts'
import { tryProcessLock, type ProcessLock } from '../../runtime/process-lock.ts'
import { commandLine, isAlive } from '../../runtime/process-state.ts'
import { forgetMissingParts } from './deduplication-log.ts'

export type EmbeddedClickHouseOptions = {
  /** The data directory itself, such as `data/clickhouse`; `.lock`, `.pid` and `.log` files lie beside it. */
  readonly dataDir: string
  /** Called with events for the operator: a takeover, an unexpected end, a restart. */
  readonly log?: (message: string) => void
  readonly memoryBytes?: number
  /** For tests: the data is removed at start and at stop. */
  readonly temporary?: boolean
  readonly startTimeoutMs?: number
}

export type EmbeddedClickHouse = {
  readonly socketPath: string
  /** Whether this call started the server. Only then does stop() end it. */
  readonly started: boolean
  /** The process id of the server; undefined while it restarts. For tests. */
  pid(): number | undefined
  stop(): Promise<void>
}

const restartDelayMs = 1_000
const shutdownMs = 10_000
const logBytesMax = 10 * 1024 * 1024
const gibibyte = 1024 ** 3
const script = fileURLToPath(new URL('chdb-process.ts', import.meta.url))

/** A quarter of the memory, 1 to 8 GiB: the server refuses statements beyond it, and keeps 250 MB when idle. */
const defaultMemoryBytes = () => Math.min(8 * gibibyte, Math.max(gibibyte, Math.floor(memoryOfProcess() / 4)))

/** In a container the limit of its control group, which the machine's memory exceeds. */
const memoryOfProcess = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)

/** Throws `unreachable` with the package to install if there is no chDB for this platform. */
export function assertChdb(platform = `${process.platform}-${process.arch}`): void {
  const require = createRequire(import.meta.url)
  try {
    const chdb = createRequire(require.resolve('chdb/package.json'))
    chdb.resolve(`@chdb/lib-${platform}${platform.startsWith('linux-') ? '-gnu' : ''}`)
  } catch (cause) {
    throw new DriverError(
      'unreachable',
      `There is no embedded ClickHouse (chDB) for ${platform} in this installation. Set CLICKHOUSE_URL to a ClickHouse server; ` +
        'in a checkout on Linux with glibc or macOS, `npm ci --include=optional` installs chDB (543 MB).',
      { cause },
    )
  }
}

/** Starts the server of a data directory, or attaches to the server that another process runs. */
export async function startEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const parent = dirname(resolve(options.dataDir))
  mkdirSync(parent, { recursive: true, mode: 0o755 })
  const dataDir = join(realpathSync(parent), basename(options.dataDir))
  const deadline = performance.now() + (options.startTimeoutMs ?? 60_000)
  for (;;) {
    const attached = await tryAttach(dataDir)
    if (attached !== undefined) return attached
    const lock = tryProcessLock(`${dataDir}.lock`)
    if (lock !== undefined) return await startOwned(dataDir, lock, options)
    if (performance.now() > deadline) {
      throw new DriverError(
        'unreachable',
        `Another process holds ${dataDir}.lock, but its ClickHouse does not answer. See ${dataDir}.log.`,
      )
    }
    await sleep(30)
  }
}

/** Attaches only while another process has the lock: a child without an owner is about to end. */
async function tryAttach(dataDir: string): Promise<EmbeddedClickHouse | undefined> {
  const lock = tryProcessLock(`${dataDir}.lock`)
  if (lock !== undefined) {
    lock.release()
    return undefined
  }
  const found = readPid(dataDir)
  if (found === undefined || !(await answers(found.socketPath))) return undefined
  return {
    socketPath: found.socketPath,
    started: false,
    pid: () => readPid(dataDir)?.pid,
    stop: () => Promise.resolve(),
  }
}

async function startOwned(
  dataDir: string,
  lock: ProcessLock,
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  try {
    assertChdb()
    const owned = new OwnedChild(dataDir, lock, options)
    await owned.start()
    return owned
  } catch (error) {
    lock.release()
    throw error
  }
}

/** A supervised server: restarted after an unexpected end, until stopped. */
class OwnedChild implements EmbeddedClickHouse {
  readonly started = true
  readonly #dataDir: string
  readonly #lock: ProcessLock
  readonly #options: EmbeddedClickHouseOptions
  #socketPath = ''
  #child: ChildProcess | undefined
  #ended: Promise<string> = Promise.resolve('not started')
  #stopping = false
  #restarting: Promise<void> | undefined

  constructor(dataDir: string, lock: ProcessLock, options: EmbeddedClickHouseOptions) {
    this.#dataDir = dataDir
    this.#lock = lock
    this.#options = options
  }

  /** The same after a restart. */
  get socketPath(): string {
    return this.#socketPath
  }

  pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    await this.#endOrphan()
    if (this.#options.temporary) this.#removeData()
    await this.#launch()
  }

  async stop(): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    await this.#restarting
    const child = this.#child
    if (child !== undefined) {
      child.ref()
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), this.#options.temporary ? 0 : shutdownMs)
      await this.#ended
      clearTimeout(timer)
    }
    for (const path of [this.#socketPath, `${this.#dataDir}.pid`]) rmSync(path, { force: true })
    if (this.#options.temporary) this.#removeData()
    this.#lock.release()
  }

  #removeData(): void {
    for (const path of [
      this.#dataDir,
      `${this.#dataDir}.incoming`,
      `${this.#dataDir}.log`,
      `${this.#dataDir}.pid`,
    ])
      rmSync(path, { recursive: true, force: true })
  }

  /**
   * A child that outlived its owner locks the directory until it ends; only the process with the lock of Pharos may end
   * it.
   */
  async #endOrphan(): Promise<void> {
    const found = readPid(this.#dataDir)
    if (found === undefined) return
    if (isAlive(found.pid) && isChildOf(found.pid, this.#dataDir)) {
      process.kill(found.pid, 'SIGKILL')
      while (isAlive(found.pid)) await sleep(10)
      this.#options.log?.('ended an embedded ClickHouse that outlived its Pharos')
    }
    rmSync(`${this.#dataDir}.pid`, { force: true })
  }

  async #launch(): Promise<void> {
    const logFile = `${this.#dataDir}.log`
    const logStart = rotateLog(logFile)
    const missing = forgetMissingParts(this.#dataDir)
    if (missing > 0)
      this.#options.log?.(`${missing} blocks that the embedded ClickHouse was killed in are inserted again`)
    const { child, ended } = spawnChild(this.#dataDir, logFile, this.#options)
    let isEnded = false
    void ended.then(() => (isEnded = true))
    const deadline = performance.now() + (this.#options.startTimeoutMs ?? 60_000)
    const findSocket = () => {
      const found = readPid(this.#dataDir)
      return found?.pid === child.pid ? found?.socketPath : undefined
    }
    for (let path = findSocket(); path === undefined || !(await answers(path)); path = findSocket()) {
      if (isEnded || performance.now() > deadline) {
        child.kill('SIGKILL')
        const output = readFileSync(logFile)
          .subarray(logStart)
          .toString()
          .trim()
          .split('\n')
          .slice(-6)
          .join('\n')
        throw new DriverError(
          'unreachable',
          `The embedded ClickHouse does not start (${await ended}): ${output}`,
        )
      }
      await sleep(15)
    }
    this.#socketPath = findSocket()!
    this.#child = child
    this.#ended = ended
    void this.#watch(ended)
  }

  async #watch(ended: Promise<string>): Promise<void> {
    const reason = await ended
    if (this.#stopping) return
    this.#child = undefined
    this.#options.log?.(`the embedded ClickHouse ended unexpectedly (${reason}); starting it again`)
    this.#restarting = this.#restart()
  }

  async #restart(): Promise<void> {
    while (!this.#stopping) {
      try {
        return await this.#launch()
      } catch (error) {
        this.#options.log?.((error as Error).message)
      }
      await sleep(restartDelayMs)
    }
  }
}

function spawnChild(
  dataDir: string,
  logFile: string,
  { memoryBytes = defaultMemoryBytes() }: EmbeddedClickHouseOptions,
) {
  const settings = JSON.stringify({ memoryBytes, threads: availableParallelism() })
  const output = openSync(logFile, 'a', 0o600)
  // A separate session: Ctrl-C reaches only this process, which ends the server when its users have ended.
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, dataDir, settings],
    {
      cwd: '/',
      // Enough for six connections and the files of bodies.
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', UV_THREADPOOL_SIZE: '10' },
      stdio: ['pipe', output, output],
      detached: true,
    },
  )
  closeSync(output)
  child.unref()
  child.stdin!.on('error', () => {})
  ;(child.stdin as unknown as { unref?: () => void }).unref?.()
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  child.on('error', (error) => resolve(error.message))
  child.on('exit', (status, signal) => resolve(signal ?? `status ${status}`))
  return { child, ended }
}

function readPid(dataDir: string): { readonly pid: number; readonly socketPath: string } | undefined {
  try {
    const [pid, socketPath] = readFileSync(`${dataDir}.pid`, 'utf8').split('\n')
    return Number(pid) > 1 && socketPath ? { pid: Number(pid), socketPath } : undefined
  } catch {
    return undefined
  }
}

function isChildOf(pid: number, dataDir: string): boolean {
  const words = commandLine(pid)
  return words.includes(basename(script)) && words.includes(dataDir)
}

function answers(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const request = get({ socketPath, path: '/ping', timeout: 5_000, agent: false }, (response) => {
    response.resume()
    response.on('end', () => resolve(response.statusCode === 200))
    response.on('error', () => resolve(false))
  })
  request.on('timeout', () => request.destroy())
  request.on('error', () => resolve(false))
  return promise
}

function rotateLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size < logBytesMax) return size
  renameSync(file, `${file}.old`)
  return 0
}
