// Runs single items together: items that arrive while a batch is running form the next one, as in the group commit of a
// database. An item that arrives while no batch is running is not delayed.

type Waiting<Item, Result> = {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Returns a function that runs one item, in the next batch of at most `itemsMax`. `run` returns a result for each item, in their
 * order; if it fails, every item of the batch fails with its error.
 */
export function inBatches<Item, Result>(
  itemsMax: number,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsMax)
      waiting = waiting.slice(itemsMax)
      try {
        const results = await run(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, at) => resolve(results[at]!))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isRunning) void runAll()
    })
}
