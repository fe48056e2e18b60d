// Reproducible randomness: a failing test prints its seed, and PHAROS_TEST_SEED repeats the run.
import { randomInt } from 'node:crypto'

export type Random = {
  /** Returns an integer from 0 to n - 1. */
  below(n: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

export const testSeed = Number(process.env['PHAROS_TEST_SEED'] ?? randomInt(2 ** 31))

/** xorshift32 (Marsaglia 2003). */
export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>>= 0) / 2 ** 32
  }
  for (let i = 0; i < 8; i++) next()
  return {
    below: (n) => Math.floor(next() * n),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)]!,
  }
}
