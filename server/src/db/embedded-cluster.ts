// The files of an embedded PostgreSQL: its data directory, created completely or not at all, and the short folder of its
// socket. It must not start servers; embedded.ts does.
import { spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Binaries } from './embedded-binaries.ts'
import { asUser, type RunAs } from './embedded-user.ts'
import { errorCode } from './errno.ts'

/** The cluster's superuser, and the database of Pharos. Only the folder's owner can reach the socket. */
export const OWNER = 'pharos'

export type Cluster = {
  readonly dataDir: string
  readonly socketDir: string
  readonly logFile: string
  readonly binaries: Binaries
  readonly runAs: RunAs
  /** For tests: writes are not synced, and the data is removed with the server. */
  readonly temporary: boolean
}

/** The environment of the server and of initdb: only required variables, so that no PG* variable leaks in. */
export const clusterEnv = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
})

/** The address of a database behind the socket; `postgres` exists in every cluster. */
export function socketUrl(socketDir: string, database: string): string {
  return `postgresql://${OWNER}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}`
}

/** Creates the folder around the data directory and returns its canonical path, from which all other names are derived. */
export function prepareParent(dataDir: string): string {
  const parent = dirname(resolve(dataDir))
  try {
    mkdirSync(parent, { recursive: true, mode: 0o755 })
    return join(realpathSync(parent), basename(resolve(dataDir)))
  } catch (cause) {
    throw new Error(`The data folder ${parent} cannot be created: ${explainFileError(cause)}`, { cause })
  }
}

/** Changes the owner of a folder to the user that runs PostgreSQL, if it is another one. */
export function changeOwner(folder: string, runAs: RunAs): void {
  if (runAs.kind === 'uid') chownSync(folder, runAs.uid, runAs.gid)
}

/** Creates the data directory if it is missing, in a folder beside it that is renamed when complete. Needs the lock. */
export async function ensureDataDir(cluster: Cluster): Promise<void> {
  const { dataDir, binaries } = cluster
  removeUnfinished(dataDir)
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
      throw new Error(
        `${dataDir} is not a PostgreSQL data directory and not empty: move it away, then start again.`,
      )
    }
    return await createDataDir(cluster)
  }
  const major = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim()
  if (major !== binaries.major) {
    throw new Error(
      `${dataDir} was created by PostgreSQL ${major}; this Pharos includes ${binaries.major}. Dump it with the Pharos that ` +
        `created it (pg_dump) and restore into a new folder, or run PostgreSQL ${major} on it and set DATABASE_URL.`,
    )
  }
}

function removeUnfinished(dataDir: string): void {
  const prefix = `${basename(dataDir)}.init-`
  for (const name of readdirSync(dirname(dataDir))) {
    if (name.startsWith(prefix))
      rmSync(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 10 })
  }
}

async function createDataDir(cluster: Cluster): Promise<void> {
  const { dataDir, binaries, runAs, temporary } = cluster
  const unfinished = `${dataDir}.init-${process.pid}`
  mkdirSync(unfinished, { mode: 0o700 })
  changeOwner(unfinished, runAs)
  const options = ['-D', unfinished, '-U', OWNER, '--auth=trust', '--encoding=UTF8', '--data-checksums']
  // The builtin provider sorts by code point, the same on every system and in every version.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  await runInitdb(cluster, [...options, ...locale, ...(temporary ? ['--no-sync'] : [])]).catch(
    (error: unknown) => {
      rmSync(unfinished, { recursive: true, force: true })
      throw error
    },
  )
  if (existsSync(dataDir)) rmSync(dataDir, { recursive: true })
  renameSync(unfinished, dataDir)
  if (!temporary) syncFolder(dirname(dataDir))
  if (binaries.major !== readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim()) {
    throw new Error(
      `The embedded PostgreSQL is not of version ${binaries.major}: install the packages again.`,
    )
  }
}

function runInitdb({ binaries, runAs, dataDir }: Cluster, args: string[]): Promise<void> {
  const { command, args: all, options } = asUser(runAs, binaries.initdb, args)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn(command, all, {
    ...options,
    cwd: '/',
    env: clusterEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)))
  child.stderr.on('data', (chunk: Buffer) => (output += String(chunk)))
  child.on('error', reject)
  child.on('close', (status) => {
    if (status === 0) resolve()
    else
      reject(new Error(`The data directory ${dataDir} cannot be created: ${explainOutput(output, dataDir)}`))
  })
  return promise
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Returns advice on the output of PostgreSQL or initdb, or its last lines if it is unknown. */
export function explainOutput(output: string, dataDir: string): string {
  const known: [RegExp, string][] = [
    [/No space left on device/, `the disk is full. Free space under ${dirname(dataDir)}, then start again.`],
    [
      /wrong ownership|Permission denied|Operation not permitted/,
      `the folder belongs to another user. Start Pharos as the owner of ${dataDir}, or change its owner.`,
    ],
    [/could not (map|create|resize) .*shared memory/i, 'the system has too little (shared) memory for it.'],
    [/database files are incompatible/, 'the data directory was created by another build of PostgreSQL.'],
    [/cannot open shared object file/, 'a library is missing on this system:'],
  ]
  const hint = known.find(([pattern]) => pattern.test(output))?.[1]
  const lastLines = output.trim().split('\n').slice(-6).join('\n')
  return [hint, lastLines === '' ? 'It printed nothing.' : lastLines].filter(Boolean).join('\n')
}

/** The same for an error of the file system. */
export function explainFileError(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOSPC') return 'the disk is full.'
  if (code === 'EACCES' || code === 'EPERM')
    return 'permission denied. Start as its owner, or set PHAROS_DATA_DIR.'
  if (code === 'EROFS') return 'the file system is read-only. Set PHAROS_DATA_DIR to a writable folder.'
  return error instanceof Error ? error.message : String(error)
}
