// Work that runs when the process exits, with one listener for any number of logs.

/** Called at the exit, synchronously; work that is added meanwhile too. */
export const exitWork = new Set<() => void>()

process.on('exit', () => {
  for (const work of exitWork) work()
})
