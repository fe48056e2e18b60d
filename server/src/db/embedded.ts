// Runs a real PostgreSQL as a child process behind a unix socket, so that Pharos starts without any set-up. It never
// listens on TCP. One process owns the server (it holds the lock beside the data directory, which the kernel releases
// at its death); every other one attaches. A server whose owner was killed ends by itself, within milliseconds.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { findBinaries } from './embedded-binaries.ts'
import {
  clusterEnv,
  ensureDataDir,
  explainFileError,
  explainOutput,
  handOver,
  OWNER,
  prepareParent,
  prepareSocketDir,
  socketUrl,
  type Cluster,
} from './embedded-cluster.ts'
import { findPostmaster, stopOrphan } from './embedded-orphan.ts'
import { asUser, chooseRunAs } from './embedded-user.ts'
import { errorCode, errorText } from './errno.ts'
import { tryProcessLock, type ProcessLock } from './process-lock.ts'

export type EmbeddedOptions = {
  /** The data directory itself, such as `data/postgres`; made when missing. `.lock` and `.log` files lie beside it. */
  readonly dataDir: string
  /** For tests: nothing is synced to the disk, and the data is removed at start and at stop. */
  readonly temporary?: boolean
  /** Told what an operator should know: a takeover, an unexpected end, a restart. */
  readonly log?: (message: string) => void
  /** How long another process's server may take to come up before attaching to it fails. */
  readonly attachTimeoutMs?: number
}

export type Embedded = {
  readonly databaseUrl: string
  /** Whether this call started the server. Only then does stop() end it. */
  readonly started: boolean
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const LOG_FILE_MAX_BYTES = 10 * 1024 * 1024
const FAST_SHUTDOWN_MS = 30_000
const RESTART_DELAY_MIN_MS = 200
const RESTART_DELAY_MAX_MS = 5_000

/** Starts the server of a data directory, or attaches to the one that another process runs on it. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = prepareParent(options.dataDir)
  const deadline = performance.now() + (options.attachTimeoutMs ?? 60_000)
  for (;;) {
    const lock = takeLock(dataDir)
    if (lock !== undefined) return await startOwned(dataDir, lock, options)
    const attached = await tryAttach(dataDir)
    if (attached !== undefined) return attached
    if (performance.now() > deadline) {
      throw new Error(
        `Another process holds ${dataDir}.lock, but its PostgreSQL does not answer. Look at ${dataDir}.log.`,
      )
    }
    await sleep(30)
  }
}

function takeLock(dataDir: string): ProcessLock | undefined {
  try {
    return tryProcessLock(`${dataDir}.lock`)
  } catch (cause) {
    throw new Error(
      `The lock ${dataDir}.lock cannot be taken: ${explainFileError(cause)}. Is it yours to write?`,
      {
        cause,
      },
    )
  }
}

async function tryAttach(dataDir: string): Promise<Embedded | undefined> {
  const postmaster = findPostmaster(dataDir)
  if (postmaster === undefined) return undefined
  const databaseUrl = socketUrl(postmaster.socketDir, OWNER)
  if (!(await answers(databaseUrl))) return undefined
  const stop = () => Promise.resolve()
  return { databaseUrl, started: false, stop, [Symbol.asyncDispose]: stop }
}

async function startOwned(dataDir: string, lock: ProcessLock, options: EmbeddedOptions): Promise<Embedded> {
  try {
    const owned = new OwnedPostgres(
      prepareCluster(dataDir, options.temporary ?? false),
      lock,
      options.log ?? ignore,
    )
    await owned.start()
    return owned
  } catch (error) {
    lock.release()
    throw error
  }
}

function prepareCluster(dataDir: string, temporary: boolean): Cluster {
  const socketDir = prepareSocketDir(dataDir)
  const binaries = findBinaries(`${socketDir}/lib`)
  const runAs = chooseRunAs(dataDir, binaries)
  handOver(socketDir, runAs)
  return { dataDir, socketDir, logFile: `${dataDir}.log`, binaries, runAs, temporary }
}

/** A server of ours: started again when it ends unexpectedly, until stopped. */
class OwnedPostgres implements Embedded {
  readonly databaseUrl: string
  readonly started = true
  readonly #cluster: Cluster
  readonly #lock: ProcessLock
  readonly #log: (message: string) => void
  #running: Running | undefined
  #stopping = false
  #restarting: Promise<void> | undefined

  constructor(cluster: Cluster, lock: ProcessLock, log: (message: string) => void) {
    this.#cluster = cluster
    this.#lock = lock
    this.#log = log
    this.databaseUrl = socketUrl(cluster.socketDir, OWNER)
  }

  async start(): Promise<void> {
    const { dataDir, temporary } = this.#cluster
    await this.#endOrphan()
    if (temporary) rmSync(dataDir, { recursive: true, force: true })
    await ensureDataDir(this.#cluster)
    await this.#launch()
  }

  async stop(): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    await this.#restarting
    if (this.#running !== undefined) await end(this.#running)
    const { dataDir, socketDir, logFile, temporary } = this.#cluster
    for (const path of temporary ? [socketDir, dataDir, logFile] : [socketDir]) {
      rmSync(path, { recursive: true, force: true })
    }
    this.#lock.release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #endOrphan(): Promise<void> {
    if ((await stopOrphan(this.#cluster.dataDir)) === 'stopped') {
      this.#log('a PostgreSQL whose Pharos was killed still ran on the data directory; it was shut down')
    }
  }

  async #launch(): Promise<void> {
    const running = await run(this.#cluster)
    this.#running = running
    void this.#watch(running)
  }

  async #watch(running: Running): Promise<void> {
    const reason = await running.ended
    if (this.#stopping) return
    this.#running = undefined
    this.#log(`PostgreSQL ended unexpectedly (${reason}); starting it again`)
    this.#restarting = this.#restart()
  }

  async #restart(): Promise<void> {
    for (
      let delayMs = RESTART_DELAY_MIN_MS;
      !this.#stopping;
      delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS)
    ) {
      try {
        await this.#endOrphan()
        return await this.#launch()
      } catch (error) {
        this.#log(`PostgreSQL does not start: ${errorText(error)}`)
      }
      await sleep(delayMs)
    }
  }
}

type Running = { readonly child: ChildProcess; readonly ended: Promise<string> }

async function run(cluster: Cluster): Promise<Running> {
  const logStart = rotateLog(cluster.logFile)
  const running = spawnServer(cluster)
  try {
    await untilReady(cluster, running)
    return running
  } catch (cause) {
    await end(running)
    const output = readFileSync(cluster.logFile).subarray(logStart).toString()
    throw new Error(`PostgreSQL does not start: ${explainOutput(output, cluster.dataDir)}`, { cause })
  }
}

function spawnServer(cluster: Cluster): Running {
  const { command, args, options } = asUser(cluster.runAs, cluster.binaries.postgres, serverArgs(cluster))
  const output = openSync(cluster.logFile, 'a', 0o600)
  // A session of its own: Ctrl-C reaches us only, and we end the server when its users have ended.
  const child = spawn(command, args, {
    ...options,
    cwd: '/',
    env: clusterEnv(cluster.binaries),
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  child.unref()
  const watchdog = child.pid === undefined ? undefined : spawnWatchdog(child.pid)
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const settle = (reason: string) => {
    watchdog?.kill('SIGKILL')
    resolve(reason)
  }
  child.on('error', (error) => settle(error.message))
  child.on('exit', (status, signal) => settle(signal ?? `status ${status}`))
  return { child, ended }
}

/** A shell that waits for the end of its input, that is of our process, however we die, and then ends the server. */
function spawnWatchdog(pid: number): ChildProcess {
  const watchdog = spawn('sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(pid)], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watchdog.on('error', ignore)
  watchdog.unref()
  watchdog.stdin?.on('error', ignore)
  ;(watchdog.stdin as unknown as { unref?: () => void } | null)?.unref?.()
  return watchdog
}

const TEMPORARY_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

function serverArgs({ dataDir, socketDir, temporary }: Cluster): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir}"`,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: temporary ? '300' : '100',
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    // Statements hold what customers sent: an error is logged without its text.
    log_min_error_statement: 'panic',
    log_line_prefix: '%m [%p] ',
    ...(temporary ? TEMPORARY_SETTINGS : {}),
  }
  return ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** Waits as long as the process lives: a recovery after a crash takes its time. */
async function untilReady(cluster: Cluster, { child, ended }: Running): Promise<void> {
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if (await ensureDatabase(socketUrl(cluster.socketDir, 'postgres'))) return
    await sleep(15)
  }
  throw new Error(`PostgreSQL ended: ${await ended}`)
}

/** Makes our database in a new cluster; false where the server does not answer yet. */
async function ensureDatabase(url: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [OWNER])
    if (found.rowCount === 0) await client.query(`create database ${OWNER}`)
  })
}

async function answers(url: string): Promise<boolean> {
  return await withClient(url, async (client) => void (await client.query('select')))
}

const NOT_YET = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P03', '3D000', '53300'])

async function withClient(url: string, use: (client: Client) => Promise<void>): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'pharos start',
  })
  client.on('error', ignore)
  try {
    await client.connect()
    await use(client)
    return true
  } catch (error) {
    if (NOT_YET.has(errorCode(error) ?? '') || /terminated|timeout/i.test(errorText(error))) return false
    throw error
  } finally {
    await client.end().catch(ignore)
  }
}

/** A fast shutdown: clients are disconnected, everything is written. After 30 s, an immediate one, which recovers at start. */
async function end({ child, ended }: Running): Promise<void> {
  if (child.pid === undefined) return
  child.ref()
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS)
  await ended
  clearTimeout(timer)
}

function rotateLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size < LOG_FILE_MAX_BYTES) return size
  renameSync(file, `${file}.old`)
  return 0
}

function ignore(): void {}
