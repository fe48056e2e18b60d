// Limits for work in tests: of processor time, which does not pass while other processes have the core.

/** Returns the processor time of this thread, in milliseconds. For work without awaits. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
