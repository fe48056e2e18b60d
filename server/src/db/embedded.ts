// Runs a real PostgreSQL as a child process behind a unix socket, so that Pharos starts without any set-up. It never
// listens on TCP. One process owns the server (by the lock beside the data directory, which the kernel releases when
// the process ends); all others attach. A server whose owner was killed ends by itself, within milliseconds.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from './embedded-binaries.ts'
import {
  ensureDataDir,
  explainFileError,
  changeOwner,
  OWNER,
  prepareParent,
  socketUrl,
  type Cluster,
} from './embedded-cluster.ts'
import { findPostmaster, stopOrphan } from './embedded-orphan.ts'
import { answers, end, run, type RunningServer } from './embedded-server.ts'
import { chooseRunAs } from './embedded-user.ts'
import { errorText } from './errno.ts'
import { tryProcessLock, type ProcessLock } from '../runtime/process-lock.ts'
import { prepareSocketDir } from '../runtime/socket-dir.ts'

export type EmbeddedOptions = {
  /** The data directory itself, such as `data/postgres`; created if missing. `.lock` and `.log` files lie beside it. */
  readonly dataDir: string
  /** For tests: writes are not synced to the disk, and the data is removed at start and at stop. */
  readonly temporary?: boolean
  /** Called with events for the operator: a takeover, an unexpected end, a restart. */
  readonly log?: (message: string) => void
  /** How long another process's server may take to come up before attaching to it fails. */
  readonly attachTimeoutMs?: number
  /** After attaching to the server of another process: starts it here once that process has ended. */
  readonly takesOver?: boolean
}

export type Embedded = {
  readonly databaseUrl: string
  /** Whether this call started the server. Only then does stop() end it. */
  readonly started: boolean
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const RESTART_DELAY_MS = 1_000
const TAKEOVER_INTERVAL_MS = 500

/** Starts the server of a data directory, or attaches to the server that another process runs. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = prepareParent(options.dataDir)
  const deadline = performance.now() + (options.attachTimeoutMs ?? 60_000)
  for (;;) {
    const lock = takeLock(dataDir)
    if (lock !== undefined) return await startOwned(dataDir, lock, options)
    const databaseUrl = await findRunning(dataDir)
    if (databaseUrl !== undefined) return new AttachedPostgres(databaseUrl, dataDir, options)
    if (performance.now() > deadline) {
      throw new Error(
        `Another process holds ${dataDir}.lock, but its PostgreSQL does not answer. See ${dataDir}.log.`,
      )
    }
    await sleep(30)
  }
}

function takeLock(dataDir: string): ProcessLock | undefined {
  try {
    return tryProcessLock(`${dataDir}.lock`)
  } catch (cause) {
    throw new Error(`The lock ${dataDir}.lock cannot be acquired: ${explainFileError(cause)}`, { cause })
  }
}

/** Returns the address of the server that another process runs, if it answers. */
async function findRunning(dataDir: string): Promise<string | undefined> {
  const postmaster = findPostmaster(dataDir)
  if (postmaster?.socketDir === undefined) return undefined
  const databaseUrl = socketUrl(postmaster.socketDir, OWNER)
  return (await answers(databaseUrl)) ? databaseUrl : undefined
}

async function startOwned(dataDir: string, lock: ProcessLock, options: EmbeddedOptions): Promise<Embedded> {
  const { temporary = false, log = ignore } = options
  let socketDir: string | undefined
  try {
    socketDir = prepareSocketDir(dataDir, '.s.PGSQL.5432')
    const owned = new OwnedPostgres(prepareCluster(dataDir, socketDir, temporary), lock, log)
    await owned.start()
    return owned
  } catch (error) {
    if (socketDir !== undefined) rmSync(socketDir, { recursive: true, force: true })
    lock.release()
    throw error
  }
}

function prepareCluster(dataDir: string, socketDir: string, temporary: boolean): Cluster {
  const binaries = findBinaries()
  const runAs = chooseRunAs(dataDir, binaries)
  changeOwner(socketDir, runAs)
  return { dataDir, socketDir, logFile: `${dataDir}.log`, binaries, runAs, temporary }
}

/**
 * The server of another process. If that is a command, it ends the server with itself; this process then takes over,
 * because a Pharos started in the meantime would have no database.
 */
class AttachedPostgres implements Embedded {
  readonly databaseUrl: string
  readonly started = false
  readonly #dataDir: string
  readonly #options: EmbeddedOptions
  readonly #timer: NodeJS.Timeout | undefined
  #owned: Embedded | undefined
  #takingOver: Promise<void> | undefined

  constructor(databaseUrl: string, dataDir: string, options: EmbeddedOptions) {
    this.databaseUrl = databaseUrl
    this.#dataDir = dataDir
    this.#options = options
    if (options.takesOver)
      this.#timer = setInterval(
        () => (this.#takingOver ??= this.#tryTakeOver()),
        TAKEOVER_INTERVAL_MS,
      ).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#takingOver
    await this.#owned?.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #tryTakeOver(): Promise<void> {
    const { log = ignore } = this.#options
    try {
      // A folder that was removed is not created again.
      if (!existsSync(join(this.#dataDir, 'PG_VERSION'))) return
      const lock = takeLock(this.#dataDir)
      if (lock === undefined) return
      log('the process that ran PostgreSQL has ended; starting it in this one')
      this.#owned = await startOwned(this.#dataDir, lock, this.#options)
      clearInterval(this.#timer)
    } catch (error) {
      log(`PostgreSQL does not start: ${errorText(error)}`)
    } finally {
      this.#takingOver = undefined
    }
  }
}

/** A supervised server: restarted after an unexpected end, until stopped. */
class OwnedPostgres implements Embedded {
  readonly databaseUrl: string
  readonly started = true
  readonly #cluster: Cluster
  readonly #lock: ProcessLock
  readonly #log: (message: string) => void
  #running: RunningServer | undefined
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
      this.#log('shut down a PostgreSQL on the data directory that outlived its Pharos')
    }
  }

  async #launch(): Promise<void> {
    const running = await run(this.#cluster)
    this.#running = running
    void this.#watch(running)
  }

  async #watch(running: RunningServer): Promise<void> {
    const reason = await running.ended
    if (this.#stopping) return
    this.#running = undefined
    this.#log(`PostgreSQL ended unexpectedly (${reason}); starting it again`)
    this.#restarting = this.#restart()
  }

  async #restart(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#endOrphan()
        return await this.#launch()
      } catch (error) {
        this.#log(`PostgreSQL does not start: ${errorText(error)}`)
      }
      await sleep(RESTART_DELAY_MS)
    }
  }
}

function ignore(): void {}
