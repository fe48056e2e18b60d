// The zones of reverse DNS (RFC 1035 section 3.5, RFC 3596 section 2.5) of a prefix. Names only: whether a zone exists is not known
// here.
import { widthOf } from './bits.ts'
import { firstOf, prefixParts } from './prefix.ts'
import type { Prefix } from './prefix.ts'

/** Number of bits per label. */
const labels = {
  4: { bits: 8, root: 'in-addr.arpa', radix: 10 },
  6: { bits: 4, root: 'ip6.arpa', radix: 16 },
}

/** The longest prefix that registries delegate as a zone. */
const lengthMax = { 4: 24, 6: 128 }

/**
 * Returns the zones that together are exactly the prefix, in the order of their addresses, in lower case and without
 * the trailing dot: one if its length ends at a label, otherwise up to 128 (IPv4) or 8. Empty for an IPv4 prefix longer
 * than /24, whose zone belongs to the holder of the /24.
 */
export function reverseZones(prefix: Prefix): readonly string[] {
  const { family, length } = prefixParts(prefix)
  if (length > lengthMax[family]) return []
  const { bits } = labels[family]
  const count = Math.ceil(length / bits)
  const zones = 2 ** (count * bits - length)
  const first = firstOf(prefix) >> BigInt(widthOf(family) - count * bits)
  return Array.from({ length: zones }, (_, at) => zoneOf(family, first + BigInt(at), count))
}

/** `value` is the value of its labels. */
function zoneOf(family: 4 | 6, value: bigint, count: number): string {
  const { bits, root, radix } = labels[family]
  const mask = (1n << BigInt(bits)) - 1n
  const names = Array.from({ length: count }, (_, at) =>
    ((value >> BigInt(at * bits)) & mask).toString(radix),
  )
  return [...names, root].join('.')
}
