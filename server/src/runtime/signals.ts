// Stop signals of the process. The first one stops it gracefully; a later one ends it immediately.

/** Ctrl-C under npm arrives twice, from the terminal and from npm: within this time it counts once. */
const repeatedSignalMs = 2_000

/** Resolves with the first SIGTERM or SIGINT (or SIGHUP, when a terminal closes). */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAt: number | undefined
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        const now = performance.now()
        if (askedAt !== undefined && signal !== 'SIGHUP' && now - askedAt > repeatedSignalMs)
          process.exit(130)
        askedAt ??= now
        resolve(signal)
      })
    }
  })
}

/**
 * Sets the exit status, and ends the process after `graceMs` if a resource is still open by then, such as a connection
 * of a component that did not stop in time. An open socket would keep the process alive.
 */
export function endProcess(status: number, graceMs = 5_000): void {
  process.exitCode = status
  setTimeout(() => process.exit(), graceMs).unref()
}
