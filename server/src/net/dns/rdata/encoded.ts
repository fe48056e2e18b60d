// Fields of octets in text: hexadecimal, base64 (RFC 4648) and base32hex (RFC 5155).
import type { FieldKind, TokenReader } from './field.ts'

/** Returns the value of a hexadecimal digit, or -1. */
export function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** Returns the octets of a hexadecimal text. Throws RdataError. */
export function parseHex(text: string, tokens: TokenReader): Uint8Array {
  if (text.length % 2 !== 0)
    throw tokens.error('syntax', 'an odd number of hexadecimal digits. Write two for each octet.')
  const octets = new Uint8Array(text.length / 2)
  for (let i = 0; i < octets.length; i++) {
    const [high, low] = [hexDigit(text.charCodeAt(2 * i)), hexDigit(text.charCodeAt(2 * i + 1))]
    if (high < 0 || low < 0) throw tokens.error('syntax', 'not hexadecimal digits.')
    octets[i] = high * 16 + low
  }
  return octets
}

export function printHex(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('hex')
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

/** Returns the octets of a base64 text: padded, and without bits beyond its octets. Throws RdataError. */
export function parseBase64(text: string, tokens: TokenReader): Uint8Array {
  const octets = text.length % 4 === 0 && base64Pattern.test(text) ? Buffer.from(text, 'base64') : undefined
  if (octets === undefined || octets.toString('base64') !== text)
    throw tokens.error('syntax', 'not base64. Check its characters and the padding with =.')
  return octets
}

export function printBase64(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('base64')
}

function rest(
  parse: (text: string, tokens: TokenReader) => Uint8Array,
  print: (octets: Uint8Array) => string,
): FieldKind {
  return {
    parse(tokens, out) {
      const octets = parse(tokens.rest(), tokens)
      out.octets(octets)
      if (octets.length === 0) throw tokens.error('missing', 'empty. Add the data.')
    },
    skip(data) {
      if (data.left === 0) throw data.error('missing', 'empty. Add the data.')
      data.take(data.left)
    },
    print: (data) => print(data.octets()),
  }
}

/** All octets up to the end, at least one. White space between digits is ignored. */
export const hex = rest(parseHex, printHex)
export const base64 = rest(parseBase64, printBase64)

/** The salt of NSEC3: hexadecimal with a length octet, `-` if empty. */
export const salt: FieldKind = {
  parse(tokens, out) {
    const token = tokens.word()
    const octets = token === '-' ? new Uint8Array() : parseHex(token, tokens)
    if (octets.length > 255) throw tokens.error('length', 'at most 255 octets.')
    out.octet(octets.length)
    out.octets(octets)
  },
  skip: (data) => void data.take(data.octet()),
  print(data) {
    const octets = data.octets(data.octet())
    return octets.length === 0 ? '-' : printHex(octets)
  },
}

const base32Digits = '0123456789abcdefghijklmnopqrstuv'

/** Returns base32hex in lower case without padding. */
function printBase32(octets: Uint8Array): string {
  let text = ''
  let bits = 0
  let count = 0
  for (const octet of octets) {
    bits = ((bits << 8) | octet) & 0xfff
    for (count += 8; count >= 5; count -= 5) text += base32Digits[(bits >> (count - 5)) & 31]!
  }
  return count > 0 ? text + base32Digits[(bits << (5 - count)) & 31]! : text
}

/** Returns the octets of base32hex without padding, in any case; undefined if it is malformed. */
function findBase32(text: string): Uint8Array | undefined {
  const octets: number[] = []
  let bits = 0
  let count = 0
  for (const character of text.toLowerCase()) {
    const digit = base32Digits.indexOf(character)
    if (digit < 0) return undefined
    bits = ((bits << 5) | digit) & 0xfff
    count += 5
    if (count >= 8) octets.push((bits >> (count -= 8)) & 255)
  }
  return count < 5 && (bits & ((1 << count) - 1)) === 0 ? Uint8Array.from(octets) : undefined
}

/** The next hashed owner name of NSEC3, with a length octet. */
export const hashedName: FieldKind = {
  parse(tokens, out) {
    const octets = findBase32(tokens.word())
    if (octets === undefined || octets.length === 0 || octets.length > 255)
      throw tokens.error('syntax', 'not base32hex without padding.')
    out.octet(octets.length)
    out.octets(octets)
  },
  skip(data) {
    const length = data.octet()
    if (length === 0) throw data.error('missing', 'empty. Add the hash.')
    data.take(length)
  },
  print: (data) => printBase32(data.octets(data.octet())),
}
