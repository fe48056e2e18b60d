// An autonomous system number in plain form (RFC 5396 asplain). AS 0 is not an Asn: protocols that use it (an AS0 ROA) keep a number.
// The holder of an ASN is not known here.
import { readDecimal } from './decimal.ts'

declare const brand: unique symbol
/** 1 to 4294967295. */
export type Asn = number & { readonly [brand]: 'Asn' }

export type AsnErrorReason = 'syntax' | 'asdot' | 'range'

/** `message` is public text; `canonical` is the intended ASN, if it can be derived. */
export class AsnError extends Error {
  readonly reason: AsnErrorReason
  readonly canonical: Asn | undefined

  constructor(reason: AsnErrorReason, message: string, canonical?: Asn) {
    super(message)
    this.name = 'AsnError'
    this.reason = reason
    this.canonical = canonical
  }
}

const asnMax = 4_294_967_295

/** `64500`, `'64500'` or `'AS64500'` (in any case). asdot (`1.10`) is refused with the plain number. Throws AsnError. */
export function parseAsn(value: string | number): Asn {
  if (typeof value === 'number') return checkRange(Number.isInteger(value) ? value : -1)
  const start = /^as/i.test(value) ? 2 : 0
  const asn = readDecimal(value, start, value.length, 9_999_999_999)
  if (asn < 0) throw asdot(value, start) ?? new AsnError('syntax', 'not an AS number, as in 64500 or AS64500')
  return checkRange(asn)
}

function checkRange(asn: number): Asn {
  if (asn < 1 || asn > asnMax)
    throw new AsnError('range', `an AS number is a whole number from 1 to ${asnMax}`)
  return asn as Asn
}

function asdot(text: string, start: number): AsnError | undefined {
  if (text.length - start > 11) return undefined
  const point = text.indexOf('.', start)
  const high = readDecimal(text, start, point, 65_535)
  const low = readDecimal(text, point + 1, text.length, 65_535)
  if (point < 0 || high < 0 || low < 0) return undefined
  const asn = high * 65_536 + low
  if (asn === 0) return new AsnError('range', `an AS number is a whole number from 1 to ${asnMax}`)
  return new AsnError('asdot', `write the AS number in plain form: ${asn}`, asn as Asn)
}

export type ReservedAsn = {
  readonly name: string
  /** Set aside for documentation (RFC 5398): real in examples and demos only. */
  readonly documentation: boolean
}

type Range = ReservedAsn & { readonly first: number; readonly last: number }

/** IANA, Special-Purpose AS Numbers, and the reserved ranges of the AS Numbers registry; without AS112, which is announced. */
const reserved: readonly Range[] = [
  { first: 0, last: 0, name: 'AS0 (RFC 7607)', documentation: false },
  { first: 23_456, last: 23_456, name: 'AS_TRANS (RFC 6793)', documentation: false },
  { first: 64_496, last: 64_511, name: 'documentation (RFC 5398)', documentation: true },
  { first: 64_512, last: 65_534, name: 'private use (RFC 6996)', documentation: false },
  { first: 65_535, last: 65_535, name: 'last 16-bit ASN (RFC 7300)', documentation: false },
  { first: 65_536, last: 65_551, name: 'documentation (RFC 5398)', documentation: true },
  { first: 65_552, last: 131_071, name: 'reserved by IANA', documentation: false },
  { first: 4_200_000_000, last: 4_294_967_294, name: 'private use (RFC 6996)', documentation: false },
  { first: asnMax, last: asnMax, name: 'last 32-bit ASN (RFC 7300)', documentation: false },
]

/** The reservation of the number; undefined if it can belong to a network. Takes any number, because AS 0 is not an Asn. */
export function reservedAsn(asn: number): ReservedAsn | undefined {
  const range = reserved.find(({ first, last }) => asn >= first && asn <= last)
  return range && { name: range.name, documentation: range.documentation }
}
