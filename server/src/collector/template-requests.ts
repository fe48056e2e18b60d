// Templates for which data waits, asked of the database: one query at a time, for all keys that came meanwhile. Anyone can send data without a
// template, so that the number of queries must not depend on the number of keys.
import type { TemplateKey } from './messages.ts'

/** Further keys are dropped: they are asked for again while their data comes. */
const waitingMax = 10_000

/** Returns what takes a key. `find` must not reject. */
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
