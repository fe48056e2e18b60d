// Decides whether a registry's data looks lost instead of changed, as in a reinstalled cache or database. Pure.
import type { RoaTable } from './roa-table.ts'
import type { VrpBits } from './vrp.ts'

/** Fewer lost objects than this count as a change, even in a small set. */
const lossMin = 3

/**
 * Returns whether a set of `after` objects that replaces a set of `before` objects (undefined: no set so far) is empty
 * or lost more than 20 %. An empty set after an empty one is not suspicious again.
 */
export function isSuspiciousLoss(before: number | undefined, after: number): boolean {
  if (after === 0) return before !== 0
  return before !== undefined && before - after >= lossMin && isLargeDifference(before, after)
}

/** Whether the smaller number is less than 80 % of the larger. */
export function isLargeDifference(a: number, b: number): boolean {
  return Math.min(a, b) < Math.max(a, b) * 0.8
}

/**
 * The most of our announcements that may lose their validity within the confirmation time: the larger of 3 and 5 %, whatever part of
 * all VRPs that is. A trust anchor that fails takes a few percent of all VRPs, and all of some customers.
 */
export function lostOriginsMax(announced: number): number {
  return Math.max(lossMin, Math.floor(announced * 0.05))
}

/** Some VRPs of each trust anchor, by its name. */
export type TrustAnchors = ReadonlyMap<string, readonly VrpBits[]>

/** Returns whether a table has almost no VRPs of this list, which must be long enough to decide. */
export function areGone(vrps: readonly VrpBits[], table: RoaTable): boolean {
  return vrps.length >= lossMin && vrps.filter((vrp) => table.has(vrp)).length < vrps.length * 0.2
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
