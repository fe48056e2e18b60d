// A prefix as numbers, and its arithmetic: the layer below Address and Prefix, for hot paths.

export type Family = 4 | 6

/**
 * A prefix (an address has the full length) as four 32-bit words, IPv4 in the first. The words are signed because
 * V8 keeps 32-bit signed integers unboxed; compare them with `>>> 0`.
 */
export type Bits = {
  readonly family: Family
  readonly length: number
  readonly w0: number
  readonly w1: number
  readonly w2: number
  readonly w3: number
}

/** 32 or 128. */
export function widthOf(family: Family): number {
  return family === 4 ? 32 : 128
}

/** Keeps only the first `length` bits of `word`; no bits for a length below 0, all above 32. */
function maskWord(word: number, length: number): number {
  if (length >= 32) return word
  return length <= 0 ? 0 : word & (-1 << (32 - length))
}

/** The same prefix with its host bits cleared. */
export function maskBits(bits: Bits): Bits {
  const { family, length, w0, w1, w2, w3 } = bits
  return {
    family,
    length,
    w0: maskWord(w0, length),
    w1: maskWord(w1, length - 32),
    w2: maskWord(w2, length - 64),
    w3: maskWord(w3, length - 96),
  }
}

/** The last address of the prefix, at full length. */
export function lastBits(bits: Bits): Bits {
  const { family, length, w0, w1, w2, w3 } = bits
  if (family === 4) return { family, length: 32, w0: w0 | ~maskWord(-1, length), w1: 0, w2: 0, w3: 0 }
  return {
    family,
    length: 128,
    w0: w0 | ~maskWord(-1, length),
    w1: w1 | ~maskWord(-1, length - 32),
    w2: w2 | ~maskWord(-1, length - 64),
    w3: w3 | ~maskWord(-1, length - 96),
  }
}

/** Whether the first `length` bits are the same; false between families. */
export function sameBits(a: Bits, b: Bits, length: number): boolean {
  return (
    a.family === b.family &&
    maskWord(a.w0 ^ b.w0, length) === 0 &&
    maskWord(a.w1 ^ b.w1, length - 32) === 0 &&
    maskWord(a.w2 ^ b.w2, length - 64) === 0 &&
    maskWord(a.w3 ^ b.w3, length - 96) === 0
  )
}

/** IPv4 before IPv6, then by address, then the shorter length first. */
export function compareBits(a: Bits, b: Bits): number {
  return (
    a.family - b.family ||
    (a.w0 >>> 0) - (b.w0 >>> 0) ||
    (a.w1 >>> 0) - (b.w1 >>> 0) ||
    (a.w2 >>> 0) - (b.w2 >>> 0) ||
    (a.w3 >>> 0) - (b.w3 >>> 0) ||
    a.length - b.length
  )
}

/** The address as one number of 32 or 128 bits. */
export function bitsToBigint(bits: Bits): bigint {
  if (bits.family === 4) return BigInt(bits.w0 >>> 0)
  const high = (BigInt(bits.w0 >>> 0) << 32n) | BigInt(bits.w1 >>> 0)
  return (high << 64n) | (BigInt(bits.w2 >>> 0) << 32n) | BigInt(bits.w3 >>> 0)
}
