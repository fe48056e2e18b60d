// How the process is told to stop. The first signal asks, the second one ends it at once.

/** Resolves with the first SIGTERM or SIGINT (or SIGHUP, when a terminal closes). */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (asked && signal !== 'SIGHUP') process.exit(130)
        asked = true
        resolve(signal)
      })
    }
  })
}
