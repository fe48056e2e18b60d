// The answers of one IRR source that are kept, the least lately used of which go first. Whether one is still good is not
// decided here.

export type KeptAnswer = {
  readonly value: unknown
  /** When the question was sent. */
  readonly fetchedMs: number
  readonly epoch: number
}

export type KeptAnswers = {
  get(key: string): KeptAnswer | undefined
  /** Weights are added up; every answer weighs 1 more than is said. One heavier than a tenth of all is not kept. */
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
      // The last in the order of a Map is what was put there last.
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
