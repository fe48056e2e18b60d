// Chooses the folder of temporary files of a run of tests: in memory if there is enough of it. Tests make hundreds of databases of a
// thousand files each; on some file systems the kernel needs 0.7 ms of processor time for each file, in memory a tenth of that.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
/** A whole run needs less than half of each. */
const spaceMinBytes = 4 * 2 ** 30
const availableMinBytes = 8 * 2 ** 30
/** Programs that run as another user read their settings in it. */
const mode = 0o755

/**
 * Sets TMPDIR, unless it is set or memory is short. A whole run gets a separate folder, which is removed at its end;
 * runs of named files share a folder per checkout, so that the next run finds the test server of the last.
 */
export function useTemporaryFolder(root, { isWhole }) {
  if (process.env.TMPDIR || !hasMemory()) return
  const name = `pharos-test-${process.getuid?.() ?? 0}`
  process.env.TMPDIR = isWhole ? ownFolder(name) : sharedFolder(name, root)
}

function ownFolder(name) {
  removeAbandoned(name)
  const folder = join(memory, `${name}-run-${process.pid}`)
  mkdirSync(folder, { mode })
  process.once('exit', () => remove(folder))
  return folder
}

/** A run that was killed has not removed its folder; this process may have its number. */
function removeAbandoned(name) {
  for (const entry of readdirSync(memory)) {
    if (!entry.startsWith(`${name}-run-`)) continue
    const pid = Number(entry.split('-').at(-1))
    if (pid === process.pid || !existsSync(`/proc/${pid}`)) remove(join(memory, entry))
  }
}

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

function sharedFolder(name, root) {
  const folder = join(memory, `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`)
  mkdirSync(folder, { recursive: true, mode })
  return folder
}

function hasMemory() {
  try {
    const [, , type, options] = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === memory)
    const { bavail, bsize } = statfsSync(memory)
    const available =
      Number(/^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1024
    // Tests run programs that they have written.
    const runsPrograms = !options.split(',').includes('noexec')
    return (
      type === 'tmpfs' && runsPrograms && bavail * bsize >= spaceMinBytes && available >= availableMinBytes
    )
  } catch {
    return false
  }
}
