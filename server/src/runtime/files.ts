// The file system, as configuration uses it, and files that are replaced while the process works.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Files } from './config.ts'

export const realFiles: Files = {
  read(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  },
  mode: (path) => statSync(path).mode & 0o777,
  create(path, text, mode) {
    mkdirSync(dirname(path), { recursive: true })
    // Written to a temporary file and linked: another process never reads half of it.
    const aside = `${path}.${process.pid}`
    writeFileSync(aside, text, { mode })
    try {
      linkSync(aside, path)
    } finally {
      rmSync(aside)
    }
  },
}

type Replacing = {
  /** Default: readable for its owner only. */
  readonly mode?: number
  /** Of a folder that is created. Default: as the system has it. */
  readonly folderMode?: number
  /** Ends the name of the file that is written aside. Default: the process id, for one call at a time for a path. */
  readonly suffix?: string
  /** Whether the content is on the disk before the name is: it survives the failure of the machine. */
  readonly isDurable?: boolean
}

/**
 * Replaces a file; no reader ever gets half of it, and the former one stays if this fails. Asynchronous: ext4 writes the data before it
 * renames over a file, 30 ms on a busy disk. `content` may write it in parts.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | ((file: FileHandle) => Promise<void>),
  { mode = 0o600, folderMode, suffix = String(process.pid), isDurable = false }: Replacing = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: folderMode })
  const aside = `${path}.${suffix}`
  try {
    const file = await open(aside, 'w', mode)
    try {
      await (typeof content === 'function' ? content(file) : file.writeFile(content))
      if (isDurable) await file.sync()
    } finally {
      await file.close()
    }
    await rename(aside, path)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}
