// The functions that merge two values of an event. Each is associative, commutative and idempotent, so that merging
// gives the same result in any order, any grouping and for any number of repeats; observations must be merged with
// these only.
import { canonicalJson, type Json } from './json.ts'

export function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b)
}

export function greatest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b)
}

/**
 * The union in the given order, truncated to `limit` members: the first members of a union are the first of its parts.
 */
export function union<T extends string>(
  a: readonly T[],
  b: readonly T[],
  compare: (x: T, y: T) => number,
  limit: number,
): T[] {
  if (a.length === 0 && b.length === 0) return []
  return [...new Set([...a, ...b])].toSorted(compare).slice(0, limit)
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The union of JSON values by their canonical text, truncated to the first `limit` in that order. */
export function unionOfJson<T extends Json>(a: readonly T[], b: readonly T[], limit: number): T[] {
  if (a.length === 0 && b.length === 0) return []
  const byKey = new Map([...a, ...b].map((value) => [canonicalJson(value), value]))
  return [...byKey]
    .toSorted(([x], [y]) => byText(x, y))
    .map(([, value]) => value)
    .slice(0, limit)
}

export type Peak = { readonly value: number; readonly at: string }

/** The higher one; of equal ones the earlier. `at` is ISO 8601 UTC, so that text order is time order. */
export function higherPeak(a: Peak | undefined, b: Peak | undefined): Peak | undefined {
  if (a === undefined || b === undefined) return a ?? b
  if (a.value !== b.value) return a.value > b.value ? a : b
  return a.at <= b.at ? a : b
}

/** The time of a value (ms since 1970, -1: unknown), and the weight of its kind of delivery. */
export type Stamp = readonly [observedAt: number, weight: number]

export type Stated<T extends Json> = { readonly value: T; readonly stamp: Stamp }

/** The latest value; then the value with the greater weight; then, to be deterministic, the greater text. */
export function later<T extends Json>(
  a: Stated<T> | undefined,
  b: Stated<T> | undefined,
): Stated<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const order = compareStamps(a.stamp, b.stamp) || byText(canonicalJson(a.value), canonicalJson(b.value))
  return order >= 0 ? a : b
}

export const compareStamps = (a: Stamp, b: Stamp): number => a[0] - b[0] || a[1] - b[1]

/** A stored delivery with the stamp of its observation. `received` in ms since 1970; the hash is of its body. */
export type StatedDelivery = {
  readonly id: number
  readonly received: number
  readonly hash: string
  readonly stamp: Stamp
}

/**
 * Returns the later delivery. Equal stamps are ordered by hash, the greater one wins; equal bodies by the time of
 * receipt, the earlier one wins.
 */
export function laterDelivery(
  a: StatedDelivery | undefined,
  b: StatedDelivery | undefined,
): StatedDelivery | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const order = compareStamps(a.stamp, b.stamp) || byText(a.hash, b.hash) || b.id - a.id
  return order >= 0 ? a : b
}

export type TrafficShare = { readonly packets?: number; readonly bytes?: number }

/**
 * Keeps the greatest share of each key as a whole, then the `limit` greatest. A truncated share is below `limit`
 * greater shares that only grow, so truncating early or late gives the same; merging packets and bytes separately would
 * not.
 */
export function topShares<T extends TrafficShare>(
  a: readonly T[],
  b: readonly T[],
  keyOf: (share: T) => string,
  limit: number,
): T[] {
  if (a.length === 0 && b.length === 0) return []
  const best = new Map<string, T>()
  for (const share of [...a, ...b]) {
    const known = best.get(keyOf(share))
    if (known === undefined || compareShares(share, known) > 0) best.set(keyOf(share), share)
  }
  return [...best.values()]
    .toSorted((x, y) => compareShares(y, x) || byText(keyOf(x), keyOf(y)))
    .slice(0, limit)
}

function compareShares(a: TrafficShare, b: TrafficShare): number {
  return (a.packets ?? -1) - (b.packets ?? -1) || (a.bytes ?? -1) - (b.bytes ?? -1)
}
