// When a registry's data looks lost instead of changed: the usual state of a cache or a database after a reinstallation. Pure.
import type { RoaTable } from './roa-table.ts'
import type { VrpBits } from './vrp.ts'

/** Fewer lost objects than that are somebody's change, also in a small set. */
const lossMin = 3

/**
 * Whether a set of `after` objects in the place of `before` of them (undefined: no set so far) is empty or lost more than
 * 20 %. An empty one that follows an empty one is not suspicious again.
 */
export function isSuspiciousLoss(before: number | undefined, after: number): boolean {
  if (after === 0) return before !== 0
  return before !== undefined && before - after >= lossMin && isVeryOther(before, after)
}

/** Whether the smaller of the numbers is less than 80 % of the other. */
export function isVeryOther(a: number, b: number): boolean {
  return Math.min(a, b) < Math.max(a, b) * 0.8
}

/** How many VRPs of a set are compared. */
const comparedMax = 2_000

/** Whether two sources have about the same VRPs. An empty set is like no other: caches of one validator are empty together. */
export function areAlike(a: RoaTable, b: RoaTable): boolean {
  if (a.size === 0 || b.size === 0 || isVeryOther(a.size, b.size)) return false
  let compared = 0
  let common = 0
  const compare = (vrp: VrpBits) => {
    compared++
    if (b.has(vrp)) common++
  }
  // One family at a time.
  const place = a.scan(0, comparedMax, compare)
  if (compared < comparedMax && place !== 0) a.scan(place, comparedMax - compared, compare)
  return !isVeryOther(compared, common)
}
