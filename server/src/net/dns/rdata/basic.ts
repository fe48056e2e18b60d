// The plain kinds of fields: numbers, names, strings, addresses, times.
import { formatBits, readBits } from '../../bits-text.ts'
import type { Bits } from '../../bits.ts'
import { lowerOctet, printName, skipName } from '../name.ts'
import { findTtl } from '../ttl.ts'
import { findType, typeName } from '../type.ts'
import { isQuoted } from '../token.ts'
import type { RdataToken } from '../token.ts'
import type { Cursor, FieldKind, Output, TokenReader } from './field.ts'

/** Returns the decimal number of a text, leading zeros allowed, or -1. */
export function readNumber(text: string, max: number): number {
  const { length } = text
  if (length === 0 || length > 20) return -1
  let value = 0
  for (let i = 0; i < length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value <= max ? value : -1
}

/** Parses the next token as a decimal number up to `max`. */
export function parseNumber(tokens: TokenReader, max: number): number {
  const value = readNumber(tokens.word(), max)
  if (value < 0) throw tokens.error('range', `not a whole number from 0 to ${max}.`)
  return value
}

function number(octets: 1 | 2 | 4, mnemonics: Readonly<Record<string, number>> = {}): FieldKind {
  const max = 2 ** (8 * octets) - 1
  const read = (data: Cursor): number =>
    octets === 1 ? data.octet() : octets === 2 ? data.uint16() : data.uint32()
  return {
    parse(tokens, out) {
      const text = tokens.word()
      const value = readNumber(text, max)
      const known = value < 0 ? mnemonics[text.toUpperCase()] : value
      if (known === undefined || known < 0)
        throw tokens.error('range', `not a whole number from 0 to ${max}.`)
      if (octets === 1) out.octet(known)
      else if (octets === 2) out.uint16(known)
      else out.uint32(known)
    },
    skip: (data) => void data.take(octets),
    print: (data) => String(read(data)),
  }
}

export const uint8 = number(1)
export const uint16 = number(2)
export const uint32 = number(4)

/** DNSSEC algorithm (RFC 4034 appendix A.1 and later): number or mnemonic in, number out. */
export const algorithm = number(1, {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  'DSA-NSEC3-SHA1': 6,
  NSEC3DSA: 6,
  'RSASHA1-NSEC3-SHA1': 7,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  'ECC-GOST': 12,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
})

export const digestType = number(1, {
  'SHA-1': 1,
  SHA1: 1,
  'SHA-256': 2,
  SHA256: 2,
  GOST: 3,
  'SHA-384': 4,
  SHA384: 4,
})

/** RFC 4398 section 2.1. */
export const certificateType = number(2, {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
})

/** The scheme of DSYNC (RFC 9859 section 2.1). */
export const notificationScheme = number(1, { NOTIFY: 1 })

/** A number of seconds, also with units: `1h30m`. */
export const period: FieldKind = {
  ...uint32,
  parse(tokens, out) {
    const value = findTtl(tokens.word())
    if (value === undefined)
      throw tokens.error('range', 'not a number of seconds up to 4294967295, or one with units as 1h30m.')
    out.uint32(value)
  },
}

/** A record type by mnemonic. */
export const coveredType: FieldKind = {
  ...uint16,
  parse(tokens, out) {
    const type = findType(tokens.word())
    if (type === undefined) throw tokens.error('syntax', 'not a record type. Use a mnemonic or TYPEnnn.')
    out.uint16(type)
  },
  print: (data) => typeName(data.uint16()),
}

function nameKind(isLowered: boolean): FieldKind {
  return {
    parse: (tokens, out) => out.name(tokens.word(), tokens),
    skip(data) {
      const end = skipName(data.wire, data.at, data.wire.length)
      if (end < 0) throw data.error('syntax', 'not an uncompressed name in wire format.')
      data.at = end
    },
    print(data) {
      const start = data.at
      this.skip(data)
      const text = printName(data.wire, start)
      return isLowered
        ? text.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(lowerOctet(letter.charCodeAt(0))))
        : text
    },
    ...(isLowered && { isLowered: true }),
  }
}

/** A name that the canonical form has in lower case: of the types that RFC 4034 section 6.2 lists. */
export const name = nameKind(true)
/** A name of any later type. Its case is kept, also in print, because signatures cover it. */
export const laterName = nameKind(false)

const stringLengthMax = 255

/** The octets of UTF-8 of quotes that word processors write, as characters: at the start of a text, and at its end. */
const openingQuote = /^"?(?:\xe2\x80[\x98-\x9f]|\xc2\xab)/
const closingQuote = /(?:\xe2\x80[\x98-\x9f]|\xc2\xbb)$/

/** Such a quote is no quote here: the text would have it, and end at the next space. Written as `\DDD` it is meant. */
function requirePlainQuotes(token: RdataToken, tokens: TokenReader): void {
  const isMistake = isQuoted(token)
    ? openingQuote.test(token) && closingQuote.test(token)
    : openingQuote.test(token) || closingQuote.test(token)
  if (isMistake)
    throw tokens.error(
      'syntax',
      'has typographic quotes. Write " instead, or \\DDD for each octet of a quote that is part of the text.',
    )
}

/** Appends a <character-string>; or several, if the reader splits. */
function parseString(tokens: TokenReader, out: Output): void {
  const token = tokens.next()
  requirePlainQuotes(token, tokens)
  const at = out.end++
  out.text(token, isQuoted(token) ? 1 : 0, token.length, tokens)
  const length = out.end - at - 1
  if (length <= stringLengthMax) {
    out.wire[at] = length
    return
  }
  if (!tokens.splitsStrings)
    throw tokens.error('length', 'a string has at most 255 octets. Split it into several quoted strings.')
  const octets = out.wire.slice(at + 1, out.end)
  out.end = at
  for (let start = 0; start < length; start += stringLengthMax) {
    const part = octets.subarray(start, start + stringLengthMax)
    out.octet(part.length)
    out.octets(part)
  }
}

const escaped: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet < 32 || octet >= 127) return `\\${String(octet).padStart(3, '0')}`
  const character = String.fromCharCode(octet)
  return character === '"' || character === '\\' ? `\\${character}` : character
})

/** Prints octets as a quoted string. */
export function printText(wire: Uint8Array, start: number, end: number): string {
  let text = '"'
  for (let i = start; i < end; i++) text += escaped[wire[i]!]!
  return `${text}"`
}

function printString(data: Cursor): string {
  const length = data.octet()
  const start = data.take(length)
  return printText(data.wire, start, data.at)
}

/** One <character-string> of at most 255 octets. */
export const string: FieldKind = {
  parse(tokens, out) {
    const before = out.end
    parseString(tokens, out)
    if (out.end - before > stringLengthMax + 1)
      throw tokens.error('length', 'a string has at most 255 octets.')
  },
  skip: (data) => void data.take(data.octet()),
  print: printString,
}

/** One or more strings up to the end. */
export const strings: FieldKind = {
  parse(tokens, out) {
    do parseString(tokens, out)
    while (!tokens.isAtEnd)
  },
  skip(data) {
    do data.take(data.octet())
    while (data.left > 0)
  },
  print(data) {
    const texts: string[] = []
    while (data.left > 0) texts.push(printString(data))
    return texts.join(' ')
  },
}

/** No string or one, at the end (ISDN). */
export const optionalString: FieldKind = {
  parse(tokens, out) {
    if (!tokens.isAtEnd) string.parse(tokens, out)
  },
  skip(data) {
    if (data.left > 0) string.skip(data)
  },
  print: (data) => (data.left > 0 ? printString(data) : ''),
}

/** All octets up to the end as one string without a length (CAA, URI). */
export const text: FieldKind = {
  parse(tokens, out) {
    const token = tokens.next()
    out.text(token, isQuoted(token) ? 1 : 0, token.length, tokens)
  },
  skip: (data) => void data.take(data.left),
  print(data) {
    const start = data.take(data.left)
    return printText(data.wire, start, data.at)
  },
}

function address(family: 4 | 6): FieldKind {
  const octets = family === 4 ? 4 : 16
  return {
    parse(tokens, out) {
      const token = tokens.word()
      const bits = readBits(token, token.length, family, octets * 8)
      if (bits === undefined)
        throw tokens.error('syntax', `not an IPv${family} address. ${addressHint[family]}`)
      writeBits(bits, out)
    },
    skip: (data) => void data.take(octets),
    print: (data) => formatBits(readAddressBits(data, family)),
  }
}

const addressHint = {
  4: 'Use four decimal numbers without leading zeros, as in 192.0.2.1.',
  6: 'Use the form 2001:db8::1.',
}

export const ipv4 = address(4)
export const ipv6 = address(6)

export function writeBits({ family, w0, w1, w2, w3 }: Bits, out: Output): void {
  out.uint32(w0)
  if (family === 4) return
  out.uint32(w1)
  out.uint32(w2)
  out.uint32(w3)
}

export function readAddressBits(data: Cursor, family: 4 | 6): Bits {
  const w0 = data.uint32() | 0
  if (family === 4) return { family, length: 32, w0, w1: 0, w2: 0, w3: 0 }
  return { family, length: 128, w0, w1: data.uint32() | 0, w2: data.uint32() | 0, w3: data.uint32() | 0 }
}
