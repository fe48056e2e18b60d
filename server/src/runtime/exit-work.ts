// Work that runs when the process exits, with one listener for any number of logs.

/** Called at the exit, synchronously, including work added during the exit. */
export const exitWork = new Set<() => void>()

process.on('exit', () => {
  for (const work of exitWork) work()
})
