// Describes the machine of the measurement, which the results depend on.
import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Cores, model, memory and system, in one line. */
export function describeMachine(): string {
  const cores = cpus()
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0)
  return `${cores.length} x ${cores[0]?.model ?? 'unknown'}, ${gigabytes} GiB, ${process.platform} ${release()}`
}

/** `load 1.25 0.90 0.40`: running processes, on average over 1, 5 and 15 minutes. */
export function describeLoad(): string {
  return `load ${loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')}`
}

/** Returns the first line of a program's version output; `not installed` if it cannot be run. */
export function versionOf(program: string | undefined, ...args: string[]): string {
  if (program === undefined) return 'not installed'
  try {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    return text.split('\n', 1)[0]!.trim()
  } catch {
    return 'not installed'
  }
}
