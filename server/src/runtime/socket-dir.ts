// The folder of a child server's unix socket: private, and with a short path whatever the length of the data directory's.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The kernel's limit is 107 bytes on Linux and 103 elsewhere. */
export const socketPathMax = 103

/** Creates the folder of the servers of a data directory; `socket` is the longest name of a file in it. */
export function prepareSocketDir(dataDir: string, socket: string): string {
  const uid = process.getuid?.() ?? 0
  const name = `pharos-${uid}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  const places = [tmpdir(), process.env.XDG_RUNTIME_DIR, '/tmp'].filter((place) => place !== undefined)
  const place = places.find(
    (place) => Buffer.byteLength(join(place, name, socket)) <= socketPathMax && existsSync(place),
  )
  if (place === undefined)
    throw new Error('No temporary folder has a path short enough for a socket: set TMPDIR.')
  const folder = join(realpathSync(place), name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  // For root the folder may belong to the user that runs its PostgreSQL, and to no other user.
  if (!found.isDirectory() || (found.uid !== uid && uid !== 0)) {
    throw new Error(`${folder} belongs to another user. Remove it, or set TMPDIR to a folder of your own.`)
  }
  chmodSync(folder, 0o700)
  return folder
}
