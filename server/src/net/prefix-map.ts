// Finds all of up to millions of prefixes that cover a given one, not only the longest, without querying the
// database. Built once and then immutable: a change means building a new map beside the old one.
//
// Two prefixes nest or are disjoint, and never overlap partially. Sorted by (address, length), all prefixes that cover one are therefore
// the last row that is not greater, or an ancestor of that row; and all prefixes inside one are contiguous rows.
import { lastBits } from './bits.ts'
import type { Bits } from './bits.ts'
import { prefixBits } from './prefix.ts'
import type { Prefix } from './prefix.ts'
import { coveringRow, createTable, endOf, isRow, lastRow, parentRow, rowStart } from './prefix-table.ts'
import type { TableColumns, PrefixTable } from './prefix-table.ts'

export type PrefixMap<T> = {
  /** The number of values. */
  readonly size: number
  /** The values of every prefix that covers this one, itself included: most specific first, then in the order given. */
  covering(prefix: Prefix): T[]
  /** The values of every prefix inside this one, itself included, in address order; the first `limit` of them. */
  coveredBy(prefix: Prefix, limit?: number): T[]
  /** `covering`, then the values of prefixes inside that are not equal, so each value once; at most `limit`. */
  overlapping(prefix: Prefix, limit?: number): T[]
  /** Like `covering`, without an array. */
  forEachCovering(prefix: Prefix, visit: (value: T) => void): void
  /** Like `forEachCovering`, for callers that have numbers (flows, route tables) instead of text. Host bits are ignored. */
  forEachCoveringBits(bits: Bits, visit: (value: T) => void): void
}

/** The values of row i are `values[startOf]` up to `values[endOf - 1]`. */
type Side<T> = { readonly table: PrefixTable; readonly values: readonly T[] }

/** A prefix may be repeated, each time with its own value. Synchronous: about a second for a million. */
export function createPrefixMap<T>(entries: Iterable<readonly [Prefix, T]>): PrefixMap<T> {
  const ipv4 = createEntries<T>()
  const ipv6 = createEntries<T>()
  for (const [prefix, value] of entries) {
    const bits = prefixBits(prefix)
    add(bits.family === 4 ? ipv4 : ipv6, bits, value)
  }
  return mapOf(createSide(ipv4), createSide(ipv6))
}

type Entries<T> = { readonly columns: TableColumns<number[]>; readonly values: T[] }

function createEntries<T>(): Entries<T> {
  return { columns: { w0: [], w1: [], w2: [], w3: [], lengths: [] }, values: [] }
}

function add<T>({ columns, values }: Entries<T>, bits: Bits, value: T): void {
  columns.w0.push(bits.w0)
  columns.w1.push(bits.w1)
  columns.w2.push(bits.w2)
  columns.w3.push(bits.w3)
  columns.lengths.push(bits.length)
  values.push(value)
}

function createSide<T>({ columns, values }: Entries<T>): Side<T> {
  const { table, order } = createTable(columns)
  return { table, values: Array.from(order, (place) => values[place]!) }
}

function mapOf<T>(ipv4: Side<T>, ipv6: Side<T>): PrefixMap<T> {
  const sideOf = (bits: Bits): Side<T> => (bits.family === 4 ? ipv4 : ipv6)

  const forEachCoveringBits = (bits: Bits, visit: (value: T) => void): void => {
    const { table, values } = sideOf(bits)
    let row = coveringRow(table, lastRow(table, bits), bits)
    for (; row >= 0; row = parentRow(table, row)) {
      const end = endOf(table, row)
      for (let i = rowStart(table, row); i < end; i++) visit(values[i]!)
    }
  }
  const covering = (bits: Bits): T[] => {
    const found: T[] = []
    forEachCoveringBits(bits, (value) => found.push(value))
    return found
  }
  const inside = (bits: Bits, includeEqual: boolean, limit: number): T[] => {
    const { table, values } = sideOf(bits)
    const last = lastRow(table, bits)
    const start = includeEqual && isRow(table, last, bits) ? rowStart(table, last) : endOf(table, last)
    const end = endOf(table, lastRow(table, lastBits(bits)))
    return values.slice(start, Math.min(end, start + limit))
  }
  return {
    size: ipv4.values.length + ipv6.values.length,
    forEachCoveringBits,
    forEachCovering: (prefix, visit) => forEachCoveringBits(prefixBits(prefix), visit),
    covering: (prefix) => covering(prefixBits(prefix)),
    coveredBy: (prefix, limit = Infinity) => inside(prefixBits(prefix), true, limit),
    overlapping: (prefix, limit = Infinity) => {
      const bits = prefixBits(prefix)
      const above = covering(bits).slice(0, limit)
      return above.concat(inside(bits, false, limit - above.length))
    },
  }
}
