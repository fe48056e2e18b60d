// Chance that repeats itself: the demo's history is the same on every machine. Pure; not for anything secret.

export type Dice = {
  /** From 0 up to, not including, 1. */
  readonly roll: () => number
  /** A whole number, both ends included. */
  readonly between: (least: number, most: number) => number
  readonly isLucky: (chance: number) => boolean
  readonly pick: <T>(from: readonly T[]) => T
  /** Spread around the median as sizes and durations of attacks are: most near it, a few far above (log-normal). */
  readonly around: (median: number, spread: number) => number
  /** Lower-case hexadecimal digits. */
  readonly hex: (digits: number) => string
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(roll() * (most - least + 1))
  return {
    roll,
    between,
    isLucky: (chance) => roll() < chance,
    pick: (from) => from[between(0, from.length - 1)]!,
    around: (median, spread) => {
      const normal = Math.sqrt(-2 * Math.log(1 - roll())) * Math.cos(2 * Math.PI * roll())
      return median * Math.exp(normal * spread)
    },
    hex: (digits) => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  }
}
