// Measures processor time for limits in tests: it does not advance while other processes use the core.

/** Returns the processor time of this thread, in milliseconds. For work without awaits. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
