// Mutates bytes for fuzz tests, repeatably: PHAROS_TEST_SEED repeats a failure. The product does not import this file.
import { randomInt } from 'node:crypto'

export const seed = Number(process.env['PHAROS_TEST_SEED'] ?? randomInt(2 ** 31))

/** Returns 0 to n - 1; a linear congruential generator (Numerical Recipes). */
export type RandomBelow = (n: number) => number

export function seededRandom(start: number): RandomBelow {
  let state = start >>> 0
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** Changes, deletes, duplicates or inserts one to four bytes at random places; `words` are inserted unchanged. */
export function mutate(bytes: Buffer, random: RandomBelow, words: readonly string[] = []): Buffer {
  let changed = bytes
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(changed.length)
    const past = Math.min(changed.length, at + random(12))
    const [before, span, after] = [
      changed.subarray(0, at),
      changed.subarray(at, past),
      changed.subarray(past),
    ]
    const put = [
      Buffer.from([random(256)]),
      Buffer.alloc(0),
      Buffer.concat([span, span]),
      Buffer.from(words[random(words.length)] ?? '\xff', 'latin1'),
    ][random(4)]!
    changed = Buffer.concat([before, put, after])
  }
  return changed
}
