// The cache of one IRR source's answers: least recently used ones are dropped first. It does not decide whether an answer is still
// valid.

export type KeptAnswer = {
  readonly value: unknown
  /** When the query was sent. */
  readonly fetchedMs: number
  readonly epoch: number
}

export type KeptAnswers = {
  get(key: string): KeptAnswer | undefined
  /** Every answer weighs `weight` plus 1. An answer heavier than a tenth of the maximum is not cached. */
  set(key: string, answer: KeptAnswer, weight: number): void
  readonly size: number
}

export function createKeptAnswers(weightMax: number): KeptAnswers {
  const kept = new Map<string, { readonly answer: KeptAnswer; readonly weight: number }>()
  let total = 0
  const drop = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }
  return {
    get(key) {
      const found = kept.get(key)
      if (!found) return undefined
      // A Map iterates in the order of insertion.
      kept.delete(key)
      kept.set(key, found)
      return found.answer
    },
    set(key, answer, weight) {
      drop(key)
      if (weight + 1 > weightMax / 10) return
      kept.set(key, { answer, weight: weight + 1 })
      total += weight + 1
      for (const oldest of kept.keys()) {
        if (total <= weightMax) break
        drop(oldest)
      }
    },
    get size() {
      return kept.size
    },
  }
}
