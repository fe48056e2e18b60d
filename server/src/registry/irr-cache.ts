// The cache of one IRR source's answers: least recently used ones are dropped first. It does not decide whether an answer is still
// valid.

export type CachedAnswer = {
  readonly value: unknown
  /** When the query was sent. */
  readonly fetchedMs: number
  readonly epoch: number
}

export type AnswerCache = {
  get(key: string): CachedAnswer | undefined
  /** Every answer weighs `weight` plus 1. An answer heavier than a tenth of the maximum is not cached. */
  set(key: string, answer: CachedAnswer, weight: number): void
  readonly size: number
}

export function createAnswerCache(weightMax: number): AnswerCache {
  const entries = new Map<string, { readonly answer: CachedAnswer; readonly weight: number }>()
  let total = 0
  const drop = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const found = entries.get(key)
      if (!found) return undefined
      // A Map iterates in the order of insertion.
      entries.delete(key)
      entries.set(key, found)
      return found.answer
    },
    set(key, answer, weight) {
      drop(key)
      if (weight + 1 > weightMax / 10) return
      entries.set(key, { answer, weight: weight + 1 })
      total += weight + 1
      for (const oldest of entries.keys()) {
        if (total <= weightMax) break
        drop(oldest)
      }
    },
    get size() {
      return entries.size
    },
  }
}
