// A number for each address, from ranges: AS numbers and countries. Typed arrays, for hundreds of thousands of look-ups a second.
// IPv6 ranges are kept by their first 64 bits, since no assignment is smaller.

/** Inclusive. Addresses of one family as numbers: 32 bits of IPv4, the first 64 bits of IPv6. */
export type AddressRange<N extends number | bigint> = {
  readonly first: N
  readonly last: N
  readonly value: number
}

export type AddressRanges = {
  /** Number of ranges, after overlaps are resolved. */
  readonly size: number
  /** The value of an address of four words, IPv4 as ::ffff:a.b.c.d; 0 if no range contains it. */
  find(w0: number, w1: number, w2: number, w3: number): number
}

/**
 * Of overlapping ranges, the one that begins later counts, then the shorter one: for prefixes this is the more specific
 * one.
 */
export function createAddressRanges(
  ipv4: readonly AddressRange<number>[],
  ipv6: readonly AddressRange<bigint>[],
): AddressRanges {
  const four = flatten(
    ipv4,
    (value) => value + 1,
    (value) => value - 1,
  )
  const six = flatten(
    ipv6,
    (value) => value + 1n,
    (value) => value - 1n,
  )
  const starts = Uint32Array.from(four, ({ first }) => first)
  const ends = Uint32Array.from(four, ({ last }) => last)
  const values = Uint32Array.from(four, ({ value }) => value)
  const buckets = createBuckets(starts)
  const word = (value: bigint, shift: bigint) => Number((value >> shift) & 0xffffffffn)
  const starts0 = Uint32Array.from(six, ({ first }) => word(first, 32n))
  const starts1 = Uint32Array.from(six, ({ first }) => word(first, 0n))
  const ends0 = Uint32Array.from(six, ({ last }) => word(last, 32n))
  const ends1 = Uint32Array.from(six, ({ last }) => word(last, 0n))
  const values6 = Uint32Array.from(six, ({ value }) => value)

  const find4 = (address: number): number => {
    let low = buckets[address >>> 16]!
    let high = buckets[(address >>> 16) + 1]!
    while (low < high) {
      const middle = (low + high) >>> 1
      if (starts[middle]! > address) high = middle
      else low = middle + 1
    }
    return low > 0 && address <= ends[low - 1]! ? values[low - 1]! : 0
  }
  const find6 = (w0: number, w1: number): number => {
    let low = 0
    let high = starts0.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const start = starts0[middle]!
      if (start > w0 || (start === w0 && starts1[middle]! > w1)) high = middle
      else low = middle + 1
    }
    const at = low - 1
    if (at < 0 || w0 > ends0[at]! || (w0 === ends0[at]! && w1 > ends1[at]!)) return 0
    return values6[at]!
  }
  return {
    size: four.length + six.length,
    find: (w0, w1, w2, w3) => (w0 === 0 && w1 === 0 && w2 === 0xffff ? find4(w3) : find6(w0, w1)),
  }
}

/** `buckets[i]` ranges begin below i * 65536. */
function createBuckets(starts: Uint32Array): Uint32Array {
  const buckets = new Uint32Array(2 ** 16 + 1)
  for (const start of starts) buckets[(start >>> 16) + 1]!++
  for (let i = 1; i < buckets.length; i++) buckets[i]! += buckets[i - 1]!
  return buckets
}

/** Returns disjoint ranges in order. */
function flatten<N extends number | bigint>(
  ranges: readonly AddressRange<N>[],
  after: (value: N) => N,
  before: (value: N) => N,
): AddressRange<N>[] {
  const sorted = ranges
    .filter(({ first, last }) => first <= last)
    .toSorted((a, b) => compare(a.first, b.first) || compare(b.last, a.last))
  const flat: AddressRange<N>[] = []
  /** Ranges that contain the position, the innermost last. */
  const open: AddressRange<N>[] = []
  let position = sorted[0]?.first
  if (position === undefined) return flat
  /** Emits the open ranges up to `until`, and closes the ranges that end there. */
  const advance = (until: N | undefined): void => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (until !== undefined && top.last >= until) {
        if (position! < until) flat.push({ first: position!, last: before(until), value: top.value })
        return
      }
      if (position! <= top.last) {
        flat.push({ first: position!, last: top.last, value: top.value })
        position = after(top.last)
      }
      open.pop()
    }
  }
  for (const range of sorted) {
    advance(range.first)
    position = range.first
    open.push(range)
  }
  advance(undefined)
  return flat
}

function compare<N extends number | bigint>(a: N, b: N): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
