// An IP prefix as canonical CIDR text, and its functions. One prefix has one spelling, so prefixes are compared
// and keyed as strings. Whether a prefix may be announced is not decided here.
import { familyOf, parseAddress, readAddress } from './address.ts'
import type { Address } from './address.ts'
import { formatBits, readBits } from './bits-text.ts'
import { bitsToBigint, compareBits, lastBits, maskBits, sameBits, widthOf } from './bits.ts'
import type { Bits, Family } from './bits.ts'
import { readDecimal } from './decimal.ts'
import { PrefixError } from './prefix-error.ts'

declare const brand: unique symbol
export type Prefix = string & { readonly [brand]: 'Prefix' }

/**
 * Parses `address/length` without host bits; any RFC 4291 spelling of the address is accepted and made canonical.
 * Throws PrefixError; if host bits are set, its `canonical` is the prefix without them.
 */
export function parsePrefix(text: string): Prefix {
  const bits = readPrefix(text)
  if (!sameBits(bits, maskBits(bits), 128)) throw hostBits(bits)
  return bits.family === 4 ? (text as Prefix) : formatPrefix(bits)
}

/** Like parsePrefix; an address without a length is its /32 or /128. */
export function parsePrefixOrAddress(text: string): Prefix {
  return text.includes('/') ? parsePrefix(text) : hostPrefix(parseAddress(text))
}

/** Like parsePrefix, but host bits are cleared. Only for senders known to set them (FastNetMon's hostgroup networks). */
export function maskHostBits(text: string): Prefix {
  return formatPrefix(maskBits(readPrefix(text)))
}

/** The /32 or /128 of one address. */
export function hostPrefix(address: Address): Prefix {
  return `${address}/${widthOf(familyOf(address))}` as Prefix
}

/** The prefix of that length around an address, host bits cleared. Throws RangeError on a length outside the family's. */
export function prefixAround(address: Address, length: number): Prefix {
  const family = familyOf(address)
  if (!Number.isInteger(length) || length < 0 || length > widthOf(family)) {
    throw new RangeError(`prefix length ${length} of an IPv${family} address`)
  }
  return formatPrefix(maskBits(readAddress(address, address.length, length)))
}

export type PrefixParts = { readonly address: Address; readonly length: number; readonly family: Family }

export function prefixParts(prefix: Prefix): PrefixParts {
  return { address: networkOf(prefix), length: lengthOf(prefix), family: familyOf(prefix) }
}

/** The first address, as text. */
export function networkOf(prefix: Prefix): Address {
  return prefix.slice(0, prefix.indexOf('/')) as Address
}

export function lengthOf(prefix: Prefix): number {
  return readDecimal(prefix, prefix.indexOf('/') + 1, prefix.length, 128)
}

/** Whether every address of `inner` is in `outer`; true for equal prefixes, false between families. */
export function covers(outer: Prefix, inner: Prefix): boolean {
  const a = prefixBits(outer)
  const b = prefixBits(inner)
  return a.length <= b.length && sameBits(a, b, a.length)
}

/** Returns whether the prefixes share an address: equal, or one covers the other. */
export function overlaps(a: Prefix, b: Prefix): boolean {
  const x = prefixBits(a)
  const y = prefixBits(b)
  return sameBits(x, y, Math.min(x.length, y.length))
}

/** For sort: IPv4 before IPv6, by address as a number, the less specific first. 0 only for equal prefixes. */
export function comparePrefixes(a: Prefix, b: Prefix): number {
  return compareBits(prefixBits(a), prefixBits(b))
}

/** Returns the two prefixes that are one bit longer; undefined for a /32 or /128. */
export function halvesOf(prefix: Prefix): readonly [Prefix, Prefix] | undefined {
  const bits = prefixBits(prefix)
  if (bits.length === widthOf(bits.family)) return undefined
  const lower = { ...bits, length: bits.length + 1 }
  const word = (['w0', 'w1', 'w2', 'w3'] as const)[bits.length >>> 5]!
  const upper = { ...lower, [word]: bits[word] | (1 << (31 - (bits.length & 31))) }
  return [formatPrefix(lower), formatPrefix(upper)]
}

/** Returns whether the prefix is `0.0.0.0/0` or `::/0`. */
export function isDefaultRoute(prefix: Prefix): boolean {
  return prefix === '0.0.0.0/0' || prefix === '::/0'
}

/** The first address as a number. */
export function firstOf(prefix: Prefix): bigint {
  return bitsToBigint(prefixBits(prefix))
}

/** The last address as a number. */
export function lastOf(prefix: Prefix): bigint {
  return bitsToBigint(lastBits(prefixBits(prefix)))
}

/** The /32 or /128 of the last address. */
export function lastHostOf(prefix: Prefix): Prefix {
  return formatPrefix(lastBits(prefixBits(prefix)))
}

/** A prefix as numbers, for the hot paths of this folder. */
export function prefixBits(prefix: Prefix): Bits {
  const slash = prefix.indexOf('/')
  const bits = readBits(prefix, slash, familyOf(prefix), readDecimal(prefix, slash + 1, prefix.length, 128))
  if (bits === undefined) throw new TypeError('not a Prefix of parsePrefix')
  return bits
}

/** Checks everything but the host bits. */
function readPrefix(text: string): Bits {
  const slash = text.indexOf('/')
  if (slash === -1) {
    readAddress(text, text.length)
    throw new PrefixError('length_missing', 'a prefix ends with its length, as in 192.0.2.0/24')
  }
  const width = widthOf(familyOf(text))
  const length = readDecimal(text, slash + 1, text.length, width)
  const bits = readAddress(text, slash, length)
  if (length < 0) throw badLength(text.slice(slash + 1), width)
  return bits
}

function badLength(length: string, width: number): PrefixError {
  if (length === '')
    return new PrefixError('length_missing', `the length after "/" is missing: 0 to ${width}`)
  if (/^0\d+$/.test(length)) return new PrefixError('leading_zero', 'write the length without leading zeros')
  return new PrefixError('length_range', `the length after "/" is a number from 0 to ${width}`)
}

function hostBits(bits: Bits): PrefixError {
  const canonical = formatPrefix(maskBits(bits))
  return new PrefixError('host_bits', `host bits are set: write ${canonical}`, canonical)
}

function formatPrefix(bits: Bits): Prefix {
  return `${formatBits(bits)}/${bits.length}` as Prefix
}
