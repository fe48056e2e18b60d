// Processor time and memory of other processes, from Linux's /proc. Processor time hardly depends on other load of the machine, unlike wall time.
import { readdirSync, readFileSync } from 'node:fs'

/** Hundredths of a second, in which Linux reports processor time. */
const tickMicros = 10_000

type Process = {
  readonly parent: number
  /** Its own ticks, of all threads, and the ticks of its children that have ended. */
  readonly own: number
  readonly ended: number
}

/** Microseconds of processor time of a process so far, of all its threads; 0 if the system does not report it. */
export function cpuMicrosOf({ pid }: { readonly pid?: number | undefined }): number {
  return (pid === undefined ? 0 : (readProcess(pid)?.own ?? 0)) * tickMicros
}

/** Microseconds of a process and all its descendants, including ended ones: a server that forks. */
export function treeMicros(root: number): number {
  const processes = listProcesses()
  let ticks = 0
  const waiting = [root]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const found = processes.get(pid)
    ticks += (found?.own ?? 0) + (found?.ended ?? 0)
    for (const [child, { parent }] of processes) if (parent === pid) waiting.push(child)
  }
  return ticks * tickMicros
}

/** Microseconds of the programs that this process has started and that have ended. */
export function endedProgramsMicros(): number {
  return (readProcess(process.pid)?.ended ?? 0) * tickMicros
}

/** Returns the parent of a process of this machine; undefined if there is no such process. */
export function parentOf(pid: number): number | undefined {
  return readProcess(pid)?.parent
}

/** Returns the command line of a process of this machine; empty if there is no such process. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

export type Memory = { readonly residentBytes: number; readonly peakBytes: number }

/** Returns the resident memory of a process now, and its peak so far; undefined if there is no such process. */
export function memoryOf({ pid }: { readonly pid?: number | undefined }): Memory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const bytesOf = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024
    return { residentBytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM') }
  } catch {
    return undefined
  }
}

function listProcesses(): Map<number, Process> {
  const found = new Map<number, Process>()
  if (process.platform !== 'linux') return found
  for (const name of readdirSync('/proc')) {
    const one = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined
    if (one !== undefined) found.set(Number(name), one)
  }
  return found
}

/** Undefined once it has ended. */
function readProcess(pid: number): Process | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it may contain spaces and parentheses.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! }
  } catch {
    return undefined
  }
}
