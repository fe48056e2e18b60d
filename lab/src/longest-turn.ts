// How long a piece of work occupies the event loop at most, in processor time: unlike the wall clock, it does not depend on other load.
import { setImmediate as nextTurn } from 'node:timers/promises'

export type Occupied<Result> = { readonly result: Result; readonly longestMs: number }

/** Runs the work and returns the longest turn of the event loop until it was done. */
export async function longestTurn<Result>(work: () => Promise<Result>): Promise<Occupied<Result>> {
  const done = new AbortController()
  let longest = 0
  const watch = (async () => {
    while (!done.signal.aborted) {
      const before = process.threadCpuUsage()
      await nextTurn()
      const { user, system } = process.threadCpuUsage(before)
      longest = Math.max(longest, user + system)
    }
  })()
  try {
    return { result: await work(), longestMs: longest / 1000 }
  } finally {
    done.abort()
    await watch
  }
}
