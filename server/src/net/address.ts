// One IP address as canonical text: IPv4 dotted, IPv6 as in RFC 5952. One address has one spelling, so addresses are
// compared and keyed as strings. No names, no ports, no zones.
import { formatBits, readBits } from './bits-text.ts'
import { maskBits, widthOf } from './bits.ts'
import type { Bits, Family } from './bits.ts'
import { PrefixError } from './prefix-error.ts'

declare const brand: unique symbol
export type Address = string & { readonly [brand]: 'Address' }

/** Length of `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128`. A longer text is rejected without parsing. */
const textLengthMax = 49

/** Parses any RFC 4291 spelling into canonical text. Throws PrefixError. */
export function parseAddress(text: string): Address {
  if (text.includes('/')) throw new PrefixError('length_unexpected', 'an address has no "/length"')
  const bits = readAddress(text, text.length)
  return (bits.family === 4 ? text : formatBits(bits)) as Address
}

/** Returns the family of a canonical address or prefix. */
export function familyOf(canonical: string): Family {
  return canonical.includes(':') ? 6 : 4
}

/**
 * The address in `text[0, end)` as bits of the given prefix length (by default the full one). Throws PrefixError, also
 * for IPv4-mapped IPv6 (`::ffff:0:0/96`): the same host under a second name would slip past every comparison.
 */
export function readAddress(text: string, end: number, length?: number): Bits {
  if (text.length > textLengthMax) throw new PrefixError('syntax', expected(length))
  const family = familyOf(text)
  const bits = readBits(text, end, family, length ?? widthOf(family))
  if (bits === undefined) throw explain(text.slice(0, end), length)
  if (family === 6 && isMapped(bits)) throw mapped(bits, length !== undefined)
  return bits
}

/** `length`: of a prefix; undefined if an address alone is expected. */
const expected = (length: number | undefined): string =>
  length === undefined
    ? 'must be an IPv4 or IPv6 address such as 203.0.113.7 or 2001:db8::7'
    : 'must be an IPv4 or IPv6 prefix such as 203.0.113.0/24 or 2001:db8::/32'

/** Returns the reason why `readBits` rejected an address. Slow; only for the message. */
function explain(address: string, length: number | undefined): PrefixError {
  if (address.includes('%')) return new PrefixError('zone', 'leave out the zone id (from "%" on)')
  const octets = address.includes(':') ? [] : address.split('.')
  if (octets.some((octet) => /^0\d/.test(octet))) {
    return new PrefixError(
      'leading_zero',
      'write the octets of an IPv4 address in decimal without leading zeros',
    )
  }
  return new PrefixError('syntax', expected(length))
}

function isMapped(bits: Bits): boolean {
  return bits.w0 === 0 && bits.w1 === 0 && bits.w2 === 0xffff
}

/** `isPrefix`: whether the text had a length, so that the suggestion has one too. */
function mapped(bits: Bits, isPrefix: boolean): PrefixError {
  if (bits.length < 96) return new PrefixError('mapped', 'IPv4-mapped IPv6: write it as IPv4')
  const length = bits.length - 96
  const ipv4 = formatBits(maskBits({ family: 4, length, w0: bits.w3, w1: 0, w2: 0, w3: 0 }))
  const canonical = isPrefix ? `${ipv4}/${length}` : ipv4
  return new PrefixError('mapped', `IPv4-mapped IPv6: write ${canonical}`, canonical)
}
