// Finds the server that a data directory's postmaster.pid names, and ends it if its Pharos has ended.
// It must never signal a process that is not the PostgreSQL of that very directory.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandLine, isAlive } from '../runtime/process-state.ts'
import { errorCode } from './errno.ts'

export type Postmaster = {
  readonly pid: number
  /** Missing until the server listens. */
  readonly socketDir: string | undefined
}

const FAST_SHUTDOWN_MS = 30_000
const IMMEDIATE_SHUTDOWN_MS = 5_000

/** The content of postmaster.pid; undefined if it does not exist. */
export function findPostmaster(dataDir: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    // The line exists, empty, before the socket does: an empty host would mean TCP.
    return pid > 1 ? { pid, socketDir: lines[4]?.startsWith('/') ? lines[4] : undefined } : undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Ends a server that outlived its Pharos, so that a new one starts with our settings and as our child process. Adopting it
 * would be quicker, but its watchdog may be about to end it. Only the holder of the directory's lock may call this.
 * A stale file of a dead server is left alone: PostgreSQL recovers from it, and checks the shared memory too.
 */
export async function stopOrphan(dataDir: string): Promise<'none' | 'stopped'> {
  const postmaster = findPostmaster(dataDir)
  if (postmaster === undefined || !isAlive(postmaster.pid)) return 'none'
  if (!isPostgresOf(postmaster.pid, dataDir)) {
    // After a crash the pid was reused by another program, as happens in containers, where pids are few.
    rmSync(join(dataDir, 'postmaster.pid'))
    return 'none'
  }
  process.kill(postmaster.pid, 'SIGINT')
  if (await diesWithin(postmaster.pid, FAST_SHUTDOWN_MS)) return 'stopped'
  process.kill(postmaster.pid, 'SIGQUIT')
  if (await diesWithin(postmaster.pid, IMMEDIATE_SHUTDOWN_MS)) return 'stopped'
  throw new Error(
    `PostgreSQL ${postmaster.pid} still runs on ${dataDir} and does not end: end it, then start again.`,
  )
}

async function diesWithin(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}

function isPostgresOf(pid: number, dataDir: string): boolean {
  const words = commandLine(pid)
  return words.includes('postgres') && words.includes(dataDir)
}
