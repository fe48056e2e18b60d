// Decides whether a registry's data looks lost instead of changed, as in a reinstalled cache or database. Pure.
import type { RoaTable } from './roa-table.ts'
import type { VrpBits } from './vrp.ts'

/** Fewer lost objects than this count as a change, even in a small set. */
const lossMin = 3

/**
 * Whether a set of `after` objects that replaces one of `before` objects (undefined: no set so far) is empty or lost more than
 * 20 %. An empty set after an empty one is not suspicious again.
 */
export function isSuspiciousLoss(before: number | undefined, after: number): boolean {
  if (after === 0) return before !== 0
  return before !== undefined && before - after >= lossMin && isLargeDifference(before, after)
}

/** Whether the smaller number is less than 80 % of the larger. */
export function isLargeDifference(a: number, b: number): boolean {
  return Math.min(a, b) < Math.max(a, b) * 0.8
}

/** The number of VRPs of a set to compare. */
const comparedMax = 2_000

/** Whether two sets have about the same VRPs. An empty set matches no other: caches of one validator are empty together. */
export function areSimilar(a: RoaTable, b: RoaTable): boolean {
  if (a.size === 0 || b.size === 0 || isLargeDifference(a.size, b.size)) return false
  let compared = 0
  let common = 0
  const compare = (vrp: VrpBits) => {
    compared++
    if (b.has(vrp)) common++
  }
  // One family at a time.
  const place = a.scan(0, comparedMax, compare)
  if (compared < comparedMax && place !== 0) a.scan(place, comparedMax - compared, compare)
  return !isLargeDifference(compared, common)
}
