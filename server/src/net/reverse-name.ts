// Names of reverse DNS (RFC 1035 section 3.5, RFC 3596 section 2.5): of one address, and the network of a name. The zones of a prefix are in
// reverse-zone.ts.
import type { Address } from './address.ts'
import { formatBits } from './bits-text.ts'
import { bitsToBigint, type Family } from './bits.ts'
import { hostPrefix, parsePrefix, prefixBits, type Prefix } from './prefix.ts'

const trees = {
  4: { root: 'in-addr.arpa.', bits: 8, radix: 10, label: /^(?:0|[1-9]\d{0,2})$/ },
  6: { root: 'ip6.arpa.', bits: 4, radix: 16, label: /^[0-9a-f]$/ },
} as const

/** Returns the name of an address in canonical form: `80.113.0.203.in-addr.arpa.`. */
export function reverseNameOf(address: Address): string {
  const { family } = prefixBits(hostPrefix(address))
  const { root, bits, radix } = trees[family]
  const width = family === 4 ? 32 : 128
  let value = bitsToBigint(prefixBits(hostPrefix(address)))
  const labels: string[] = []
  for (let i = 0; i < width / bits; i++, value >>= BigInt(bits))
    labels.push((value & BigInt(2 ** bits - 1)).toString(radix))
  return `${labels.join('.')}.${root}`
}

/**
 * Returns the network of a canonical name: 203.0.113.0/24 of `113.0.203.in-addr.arpa.`, one address of a full name.
 * Undefined for a name outside both trees, and for a name whose labels are not part of an address; the roots of the
 * trees are 0.0.0.0/0 and ::/0.
 */
export function findReverseNetwork(name: string): Prefix | undefined {
  const family = reverseFamilyOf(name)
  if (family === undefined) return undefined
  const { root, bits, label } = trees[family]
  const labels = name === root ? [] : name.slice(0, -root.length - 1).split('.')
  const most = family === 4 ? 4 : 32
  if (labels.length > most || !labels.every((one) => label.test(one))) return undefined
  const digits = labels.toReversed()
  return family === 4 ? network4(digits, bits) : network6(digits, bits)
}

/** Returns the family of the tree that a canonical name is in; undefined outside both. */
export function reverseFamilyOf(name: string): Family | undefined {
  if (isIn(name, trees[4].root)) return 4
  return isIn(name, trees[6].root) ? 6 : undefined
}

const isIn = (name: string, root: string): boolean => name === root || name.endsWith(`.${root}`)

function network4(octets: readonly string[], bits: number): Prefix | undefined {
  if (octets.some((octet) => Number(octet) > 255)) return undefined
  const address = [...octets, '0', '0', '0', '0'].slice(0, 4).join('.')
  return parsePrefix(`${address}/${octets.length * bits}`)
}

function network6(nibbles: readonly string[], bits: number): Prefix {
  const digits = nibbles.join('').padEnd(32, '0')
  return parsePrefix(`${digits.match(/.{4}/g)!.join(':')}/${nibbles.length * bits}`)
}

/** Returns the address at that offset from the first address of the prefix. */
export function addressAt(prefix: Prefix, place: number): Address {
  const { family, w0, w1, w2, w3 } = prefixBits(prefix)
  if (family === 4) return formatBits({ family, length: 32, w0: (w0 + place) | 0, w1, w2, w3 }) as Address
  // Places are below 2^32, so only the last word changes unless it overflows.
  const last = (w3 >>> 0) + place
  if (last > 0xffff_ffff) throw new RangeError('the place is beyond the last word of the address')
  return formatBits({ family, length: 128, w0, w1, w2, w3: last | 0 }) as Address
}
