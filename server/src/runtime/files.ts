// The file system, as configuration uses it.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
