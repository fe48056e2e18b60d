// The id of a collector among others. It survives restarts: a collector must not treat its own observations before a
// crash as another collector's.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the id in the directory, which is created. */
export function collectorId(dir: string): string {
  const path = join(dir, 'collector')
  try {
    writeFileSync(path, randomBytes(8).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path, 'utf8')
}
