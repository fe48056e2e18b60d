// The priority of threads that compute: below requests and publications, which are shorter.
import { getPriority, setPriority } from 'node:os'

/** A third of the process's share if both want the core: enough to finish within a request on a machine that others keep busy. */
const STEPS = 5
const LOWEST = 19

/**
 * Lowers the priority of the calling thread. Linux has one per thread; elsewhere this would slow down the whole
 * process.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, Math.min(getPriority(0) + STEPS, LOWEST))
}
