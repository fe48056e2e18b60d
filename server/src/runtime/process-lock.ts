// A lock between processes that the kernel releases when its holder ends, even by kill -9. Node has no flock, so SQLite
// acquires one on an empty file. The file must never contain data: it stays empty and may remain afterwards.
import { accessSync, constants, existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

export type ProcessLock = { release(): void }

/**
 * Acquires the lock of `file` without waiting, or returns undefined if another process (or another caller in this
 * process) has it.
 */
export function tryProcessLock(file: string): ProcessLock | undefined {
  // SQLite would open a read-only file without an error and without a lock.
  if (existsSync(file)) accessSync(file, constants.W_OK)
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // Without the first, a journal would appear beside the file.
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
  let held = true
  return {
    release() {
      if (held) database.close()
      held = false
    },
  }
}
