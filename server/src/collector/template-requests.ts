// Requests templates of waiting data from the database: one query at a time, for all keys that have arrived in the
// meantime. Anyone can send data without a template, so the number of queries must not depend on the number of keys.
import type { TemplateKey } from './messages.ts'

/** Further keys are dropped: they are requested again with their next data. */
const waitingMax = 10_000

/** Returns a function that accepts a key. `find` must not reject. */
export function createTemplateRequests(
  find: (keys: readonly TemplateKey[]) => Promise<void>,
): (key: TemplateKey) => void {
  let waiting: TemplateKey[] = []
  let isAsking = false
  async function ask(): Promise<void> {
    isAsking = true
    while (waiting.length > 0) {
      const keys = waiting
      waiting = []
      await find(keys)
    }
    isAsking = false
  }
  return (key) => {
    if (waiting.length >= waitingMax) return
    waiting.push(key)
    if (!isAsking) void ask()
  }
}
