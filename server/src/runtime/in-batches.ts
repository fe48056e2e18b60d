// Runs single items together: those that arrive while earlier ones are running form the next batch, as in the group commit of a
// database. An item that arrives when nothing is running is not delayed.

export type BatchLimits = {
  /** Batches that run at the same time. */
  readonly atOnce: number
  readonly itemsMax: number
}

type Waiting<Item, Result> = {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Returns a function that runs one item in the next batch. `run` returns a result for each item, in their order; if it
 * fails, every item of the batch fails with its error.
 */
export function inBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { atOnce, itemsMax }: BatchLimits,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0

  async function runNext(): Promise<void> {
    const batch = waiting.slice(0, itemsMax)
    waiting = waiting.slice(itemsMax)
    running += 1
    try {
      const results = await run(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, at) => resolve(results[at]!))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      running -= 1
      if (waiting.length > 0) void runNext()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (running < atOnce) void runNext()
    })
}
