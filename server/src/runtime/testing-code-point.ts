// Any code point, for property tests. Only tests import this file.
import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }
/** Index of a text that is not one code point. */
const noIndex = -1

/**
 * The `unit` of texts of any characters. Equivalent to the unit "binary" of fast-check, which builds a table of all 1.1
 * million code points in each process: 1.2 s of processor time and 120 MB.
 */
export const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count), indexOf)

function indexOf(text: unknown): number {
  const code = String(text).codePointAt(0) ?? 0
  if (String.fromCodePoint(code) !== text || !text.isWellFormed()) return noIndex
  return code < surrogates.first ? code : code - surrogates.count
}
