// The times of RRSIG: 14 digits in UTC in text, seconds since 1970 modulo 2^32 on the wire.
import { readNumber, uint32 } from './basic.ts'
import type { FieldKind } from './field.ts'

/** The times of RRSIG (RFC 4034 section 3.2): 14 digits in UTC, or seconds. They wrap as serials do. */
export const time: FieldKind = {
  ...uint32,
  parse(tokens, out) {
    const text = tokens.word()
    const seconds = text.length === 14 ? readTime(text) : readNumber(text, 0xffff_ffff)
    if (seconds < 0) throw tokens.error('syntax', 'not a time. Use YYYYMMDDHHmmSS in UTC.')
    out.uint32(seconds)
  },
  print: (data) => printTime(data.uint32()),
}

function readTime(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (!match) return -1
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const ms = Date.UTC(year, month - 1, day, hour, minute, second)
  const isReal = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14) === text
  return isReal && ms >= 0 ? (ms / 1_000) % 2 ** 32 : -1
}

/** Prints seconds since 1970 as 14 digits. */
function printTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replaceAll(/\D/g, '').slice(0, 14)
}
