// Serial numbers of zones with the arithmetic of RFC 1982: they wrap at 2^32, and of two numbers the newer one is at most 2^31 - 1 ahead.

declare const brand: unique symbol
/** 0 to 4294967295. */
export type Serial = number & { readonly [brand]: 'Serial' }

/** Returns the number as a serial. Throws RangeError: numbers from outside are checked by their schema or have 32 bits on the wire. */
export function toSerial(value: number): Serial {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw new RangeError('not a serial')
  return value as Serial
}

/**
 * Compares by RFC 1982 section 3.2: negative if `a` is older than `b`. Undefined if they are 2^31 apart, which has no order. It is not
 * transitive: do not sort with it.
 */
export function compareSerials(a: Serial, b: Serial): number | undefined {
  const ahead = (a - b) | 0
  return ahead === -0x8000_0000 ? undefined : Math.sign(ahead)
}

/** Returns whether `a` is newer than `b`; false if they have no order. */
export function isNewer(a: Serial, b: Serial): boolean {
  return (compareSerials(a, b) ?? 0) > 0
}

/**
 * Returns the serial that follows `last`: the Unix time, or `last + 1` if that is not older than it. A zone imported
 * with 2026112205, which is ahead of the Unix time, continues from there. 0 is skipped, because some servers read it as
 * "no serial".
 */
export function nextSerial(last: Serial | undefined, nowSeconds: number): Serial {
  const now = (Math.floor(nowSeconds) >>> 0) as Serial
  if (last === undefined || isNewer(now, last)) return now
  const next = (last + 1) >>> 0
  return (next === 0 ? 1 : next) as Serial
}
