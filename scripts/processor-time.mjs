// Reads the processor time of processes from the kernel.
import { readFileSync } from 'node:fs'

/** Ticks of 10 ms in a second. */
const TICKS = 100

/** Processor seconds of a process and of its children that have ended; undefined outside Linux, and if there is no such process. */
export function processorSeconds(pid = 'self') {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user, system, usersOfChildren, systemOfChildren] = fields.slice(11, 15).map(Number)
    return (user + system + usersOfChildren + systemOfChildren) / TICKS
  } catch {
    return undefined
  }
}

/** The same, with its children that still run. */
export function familySeconds(pid) {
  const own = processorSeconds(pid)
  if (own === undefined) return undefined
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + (processorSeconds(child) ?? 0), own)
}
