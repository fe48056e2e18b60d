// The server process of an embedded PostgreSQL: its settings, its start, its watchdog and its end.
// embedded.ts decides when and by which process it is started.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { ignoreIdleErrors } from './connection.ts'
import { clusterEnv, explainOutput, OWNER, socketUrl, type Cluster } from './embedded-cluster.ts'
import { asUser } from './embedded-user.ts'
import { errorCode, errorText } from './errno.ts'

const LOG_FILE_MAX_BYTES = 10 * 1024 * 1024
const FAST_SHUTDOWN_MS = 30_000

/** A server process, and how it ended. */
export type RunningServer = { readonly child: ChildProcess; readonly ended: Promise<string> }

/** Starts the server of an existing data directory; resolves when it answers and our database exists. */
export async function run(cluster: Cluster): Promise<RunningServer> {
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

function spawnServer(cluster: Cluster): RunningServer {
  const { command, args, options } = asUser(cluster.runAs, cluster.binaries.postgres, serverArgs(cluster))
  const output = openSync(cluster.logFile, 'a', 0o600)
  // A separate session: Ctrl-C reaches only this process, which ends the server when its users have ended.
  const child = spawn(command, args, {
    ...options,
    cwd: '/',
    env: clusterEnv(),
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

/** A shell that waits for the end of its input, which closes when this process ends for any reason, and then ends the server. */
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
    // Statements contain customers' data: an error is logged without its text.
    log_min_error_statement: 'panic',
    log_line_prefix: '%m [%p] ',
    ...(temporary ? TEMPORARY_SETTINGS : {}),
  }
  return ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** Waits as long as the process lives: recovery after a crash can take long. */
async function untilReady(cluster: Cluster, { child, ended }: RunningServer): Promise<void> {
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if (await ensureDatabase(socketUrl(cluster.socketDir, 'postgres'))) return
    await sleep(15)
  }
  throw new Error(`PostgreSQL ended: ${await ended}`)
}

/** Creates our database in a new cluster; returns false if the server does not answer yet. */
async function ensureDatabase(url: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [OWNER])
    if (found.rowCount === 0) await client.query(`create database ${OWNER}`)
  })
}

/** Whether the database can be used now. */
export async function answers(url: string): Promise<boolean> {
  return await withClient(url, async (client) => void (await client.query('select')))
}

const NOT_YET = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P03', '3D000', '53300'])

async function withClient(url: string, use: (client: Client) => Promise<void>): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'pharos start',
  })
  ignoreIdleErrors(client)
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
export async function end({ child, ended }: RunningServer): Promise<void> {
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
