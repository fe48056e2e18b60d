// The file system, as configuration uses it, and files that are replaced while the process works.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
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

/**
 * Replaces a file, readable for its owner only; no reader ever gets half of it. Asynchronous: ext4 writes the data before it
 * renames over a file, 30 ms on a busy disk. One call at a time for a path.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const aside = `${path}.${process.pid}`
  await writeFile(aside, content, { mode: 0o600 })
  await rename(aside, path)
}
