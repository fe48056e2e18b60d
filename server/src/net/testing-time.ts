// Measures processor time for limits in tests: it does not advance while other processes use the core.

/** Returns the processor time of this thread, in milliseconds. For work without awaits. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * The processor time of work without awaits, in milliseconds, for a limit: work that exceeds the limit is repeated twice, because
 * the compiler and the collector of garbage can add to a run.
 */
export function fastestOfThree(limitMs: number, work: () => void): number {
  let fastestMs = Infinity
  for (let round = 0; round < 3 && fastestMs >= limitMs; round++) {
    const began = cpuMs()
    work()
    fastestMs = Math.min(fastestMs, cpuMs() - began)
  }
  return fastestMs
}
