// Sets of whole numbers as ranges: ports, protocols, packet lengths. One set has one form, so sets are compared by their text.
import { readDecimal } from './decimal.ts'

/** First and last number, both included. */
export type Range = readonly [first: number, last: number]

/** Sorted, disjoint and not adjacent; never empty. */
export type Ranges = readonly Range[]

/** Ranges of one text. */
const partsMax = 500

/** Parses `80`, `80,443`, `1024-65535` and mixtures. Undefined if the text is not a set of numbers from 0 to `max`. */
export function readRanges(text: string, max: number): Ranges | undefined {
  const parts = text.split(',', partsMax + 1)
  if (parts.length > partsMax) return undefined
  const ranges: Range[] = []
  for (const part of parts) {
    const range = readRange(part.trim(), max)
    if (!range) return undefined
    ranges.push(range)
  }
  return canonicalRanges(ranges)
}

function readRange(text: string, max: number): Range | undefined {
  const dash = text.indexOf('-')
  const first = readDecimal(text, 0, dash === -1 ? text.length : dash, max)
  const last = dash === -1 ? first : readDecimal(text, dash + 1, text.length, max)
  return first >= 0 && last >= first ? [first, last] : undefined
}

/** Returns the canonical form of ranges in any order; undefined without ranges. */
export function canonicalRanges(ranges: readonly Range[]): Ranges | undefined {
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged.length > 0 ? merged : undefined
}

/** Returns the text that `readRanges` parses. */
export function formatRanges(ranges: Ranges): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

/** Undefined if they have no number in common. */
export function intersectRanges(a: Ranges, b: Ranges): Ranges | undefined {
  const common: Range[] = []
  for (let x = 0, y = 0; x < a.length && y < b.length;) {
    const first = Math.max(a[x]![0], b[y]![0])
    const last = Math.min(a[x]![1], b[y]![1])
    if (first <= last) common.push([first, last])
    if (a[x]![1] < b[y]![1]) x++
    else y++
  }
  return common.length > 0 ? common : undefined
}

/** Returns whether the ranges have a number in common. */
export function overlapRanges(a: Ranges, b: Ranges): boolean {
  for (let x = 0, y = 0; x < a.length && y < b.length;) {
    if (a[x]![1] < b[y]![0]) x++
    else if (b[y]![1] < a[x]![0]) y++
    else return true
  }
  return false
}

/** Whether `outer` has every number of `inner`. */
export function coversRanges(outer: Ranges, inner: Ranges): boolean {
  return inner.every(([first, last]) => outer.some((range) => range[0] <= first && last <= range[1]))
}

export function includesNumber(ranges: Ranges, value: number): boolean {
  return ranges.some(([first, last]) => first <= value && value <= last)
}
