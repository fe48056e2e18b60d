// The programs that the lab runs: finds them, and starts a program as a child process that never outlives this one. It
// installs no packages and knows no protocol.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import packages from '../../scripts/programs.json' with { type: 'json' }

export type ProgramName = keyof typeof packages

/** Returns the Debian package of a program. */
export const packageOf = (name: ProgramName): string => packages[name]

/** Returns the path of a program, or undefined. Daemons are in /usr/sbin, which an ordinary user's PATH may lack. */
export function findProgram(name: ProgramName): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin']
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

/** Throws with the command to run if the program is missing. */
export function programPath(name: ProgramName): string {
  const path = findProgram(name)
  if (path === undefined)
    throw new Error(`${name} is not installed: as root, apt-get install ${packageOf(name)}`)
  return path
}

/**
 * For the `skip` of tests that need these programs: false if they are installed, otherwise the reason. With
 * PHAROS_TEST_REQUIRE_PEERS=1 tests are never skipped, so that missing programs fail them.
 */
export function skipWithout(...names: ProgramName[]): string | false {
  const missing = names.filter((name) => findProgram(name) === undefined)
  if (missing.length === 0 || process.env['PHAROS_TEST_REQUIRE_PEERS'] === '1') return false
  return `${missing.join(', ')} is not installed`
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts a program with its output appended to a file. The kernel ends it when this process dies for any reason
 * (setpriv's parent death signal), if setpriv is installed.
 */
export function startProgram(name: ProgramName, args: readonly string[], logFile: string): ChildProcess {
  const setpriv = findProgram('setpriv')
  const guard = setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : []
  const [command = '', ...rest] = [...guard, programPath(name), ...args]
  const log = openSync(logFile, 'a')
  const child = spawn(command, rest, {
    stdio: ['ignore', log, log],
    env: { ...process.env, TZ: 'UTC' },
    // Ctrl-C reaches the lab alone: a daemon that ended by itself would be restarted.
    detached: true,
  })
  closeSync(log)
  running.add(child)
  child.once('exit', () => running.delete(child))
  child.once('error', () => running.delete(child))
  return child
}

/** Sends the signal and waits until the process has ended. */
export async function killProgram(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null && child.pid !== undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Kills the processes started with the folder, see pidsOf(). Returns whether there were no such processes. */
export function killAllOf(folder: string): boolean {
  const pids = pidsOf(folder)
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended in the meantime.
    }
  }
  return pids.length === 0
}

/** Other processes with the folder in their command line or environment: started with it, or their children. */
export function pidsOf(folder: string): number[] {
  const names = (file: string) => {
    try {
      return readFileSync(file, 'utf8').includes(folder)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => names(`/proc/${pid}/cmdline`) || names(`/proc/${pid}/environ`))
    .map(Number)
}
