// Record data of any type: text to wire format and back, validation, and the canonical form of DNSSEC. Wire format is stored and compared;
// text is canonical, so equal data has equal text.
import { lowerOctet, nameFromWire, nameToWire, root } from '../name.ts'
import type { DomainName } from '../name.ts'
import { quotedEnd, unquotedEnd } from '../token.ts'
import type { RdataToken } from '../token.ts'
import { recordType, typeName } from '../type.ts'
import { printHex, parseHex } from './encoded.ts'
import { parseNumber } from './basic.ts'
import { Cursor, Output, TokenReader, rdataLengthMax } from './field.ts'
import { RdataError } from './rdata-error.ts'
import { findRdataType, objectionToOctets } from './table.ts'
import type { RdataType } from './table.ts'

export { RdataError } from './rdata-error.ts'

export type ParseOptions = {
  /** Completes relative names; without it every name is absolute. */
  readonly origin?: DomainName
  /** Splits strings of more than 255 octets, as the API does for TXT. Zone files refuse them. */
  readonly splitsStrings?: boolean
}

/**
 * Parses the data of one record, without owner, TTL, class and type, on one line: `10 mail.example.com.`. Every type has also the form of RFC 3597,
 * `\# 4 c0000201`, which is checked for types known here. Each character of the text is one octet: convert UTF-8 before.
 * Throws RdataError, also for data that name servers accept but that cannot be intended (`adviseRdata`).
 */
export function parseRdata(
  type: number,
  text: string,
  { origin = root, splitsStrings = false }: ParseOptions = {},
): Uint8Array {
  const rdata = parseRdataTokens(type, splitTokens(text), 0, nameToWire(origin), splitsStrings)
  const advice = adviseRdata(type, rdata)
  if (advice) throw advice
  return rdata
}

const shared = new Output()

/** Parses the tokens from `start` on. `origin` is in wire format; without it a relative name is an error. Throws RdataError. */
export function parseRdataTokens(
  type: number,
  tokens: readonly RdataToken[],
  start: number,
  origin: Uint8Array | undefined,
  splitsStrings = false,
): Uint8Array {
  const reader = new TokenReader(tokens, start, origin, splitsStrings)
  if (tokens[start] === '\\#') return parseGeneric(type, reader)
  const rdataType = findRdataType(type)
  if (!rdataType)
    throw new RdataError(
      'type',
      'type',
      `${typeName(type)} has no text form here. Use TYPE${type} \\# <length> <hexadecimal octets>.`,
    )
  const out = shared
  out.end = 0
  for (const [field, kind] of rdataType.fields) {
    reader.field = field
    kind.parse(reader, out)
  }
  if (!reader.isAtEnd) {
    throw reader.error('extra', 'text follows it. Remove it, or quote the value if it contains spaces.')
  }
  if (out.end > rdataLengthMax) throw reader.error('length', 'record data has at most 65535 octets.')
  const rdata = out.wire.slice(0, out.end)
  // Only these kinds have rules that their parser leaves to the check of the octets.
  if (type === recordType.SVCB || type === recordType.HTTPS || rdataType.objection) validateRdata(type, rdata)
  else checkDigest(rdataType, rdata, false)
  return rdata
}

/** `\# <length> <hexadecimal octets>` (RFC 3597 section 5). */
function parseGeneric(type: number, reader: TokenReader): Uint8Array {
  reader.next()
  reader.field = 'length'
  const length = parseNumber(reader, rdataLengthMax)
  reader.field = 'octets'
  const rdata = reader.isAtEnd ? new Uint8Array() : parseHex(reader.rest(), reader)
  if (rdata.length !== length)
    throw reader.error('length', `${rdata.length} octets, not ${length} as announced.`)
  validateRdata(type, rdata)
  return rdata
}

/**
 * Checks the octets of record data; unknown types may have any data. Rejects data for which a common name server
 * refuses the transfer of the whole zone. Throws RdataError.
 */
export function validateRdata(type: number, rdata: Uint8Array): void {
  const rdataType = findRdataType(type)
  if (!rdataType) {
    const objection = objectionToOctets(type, rdata)
    if (objection) throw objection
    return
  }
  const data = new Cursor(rdata)
  for (const [field, kind] of rdataType.fields) {
    data.field = field
    kind.skip(data)
  }
  if (data.left > 0) throw data.error('extra', 'octets follow it. Check the length of the data.')
  checkDigest(rdataType, rdata, false)
  const objection = rdataType.objection?.(rdata)
  if (objection) throw objection
}

/** Returns the objection to data that name servers accept: a TLSA or SMIMEA digest of a wrong length. */
export function adviseRdata(type: number, rdata: Uint8Array): RdataError | undefined {
  const rdataType = findRdataType(type)
  if (!rdataType?.digest?.isAdvice) return undefined
  try {
    checkDigest(rdataType, rdata, true)
    return undefined
  } catch (error) {
    if (error instanceof RdataError) return error
    throw error
  }
}

function checkDigest({ fields, digest }: RdataType, rdata: Uint8Array, isAdvice: boolean): void {
  if (!digest || (digest.isAdvice ?? false) !== isAdvice) return
  const expected = digest.lengths[rdata[digest.typeAt]!]
  const length = rdata.length - digest.digestAt
  const field = fields.at(-1)![0]
  if (expected !== undefined && length !== expected)
    throw new RdataError(
      'length',
      field,
      `${length} octets, but its type has ${expected}. Check the type and that the value is complete.`,
    )
  if (length < (digest.lengthMin ?? 0))
    throw new RdataError('length', field, `fewer than ${digest.lengthMin} octets.`)
}

/**
 * Prints record data in canonical text. Names are in lower case where the canonical form has them so, hexadecimal digits are in lower case, strings
 * quoted. Data that is unknown or malformed has the form of RFC 3597. `parseRdata` of it is the canonical form of the data.
 */
export function printRdata(type: number, rdata: Uint8Array): string {
  const rdataType = findRdataType(type)
  if (!rdataType) return printGeneric(rdata)
  try {
    validateRdata(type, rdata)
    const data = new Cursor(rdata)
    const texts = rdataType.fields.map(([, kind]) => kind.print(data)).filter((text) => text !== '')
    // No text: an empty APL list, which some servers read only in this form.
    return texts.length === 0 ? printGeneric(rdata) : texts.join(' ')
  } catch (error) {
    if (error instanceof RdataError) return printGeneric(rdata)
    throw error
  }
}

function printGeneric(rdata: Uint8Array): string {
  return rdata.length === 0 ? '\\# 0' : `\\# ${rdata.length} ${printHex(rdata)}`
}

/**
 * Returns the canonical form (RFC 4034 section 6.2): names of the older types in lower case. Returns the same object if
 * it is already canonical.
 */
export function canonicalRdata(type: number, rdata: Uint8Array): Uint8Array {
  const rdataType = findRdataType(type)
  if (!rdataType?.fields.some(([, kind]) => kind.isLowered)) return rdata
  const data = new Cursor(rdata)
  let canonical = rdata
  for (const [, kind] of rdataType.fields) {
    const start = data.at
    kind.skip(data)
    if (!kind.isLowered) continue
    for (let i = start; i < data.at; i++) {
      const octet = lowerOctet(rdata[i]!)
      if (octet === rdata[i]) continue
      if (canonical === rdata) canonical = rdata.slice()
      canonical[i] = octet
    }
  }
  return canonical
}

/** Offset of the target name of a record: NS, CNAME, PTR, DNAME at 0, and so on. */
const targets: Readonly<Record<number, number>> = {
  [recordType.NS]: 0,
  [recordType.CNAME]: 0,
  [recordType.ALIAS]: 0,
  [recordType.PTR]: 0,
  [recordType.DNAME]: 0,
  [recordType.MX]: 2,
  [recordType.AFSDB]: 2,
  [recordType.KX]: 2,
  [recordType.RT]: 2,
  [recordType.LP]: 2,
  [recordType.SRV]: 6,
  [recordType.SVCB]: 2,
  [recordType.HTTPS]: 2,
}

/** Returns the name that valid data of NS, CNAME, MX, SRV, SVCB and the like points at; undefined for other types. */
export function targetOf(type: number, rdata: Uint8Array): DomainName | undefined {
  const at = targets[type]
  return at === undefined ? undefined : nameFromWire(rdata, at)
}

/** Splits one line of record data into tokens. Throws RdataError for the syntax of zone files: comments, parentheses, lines. */
export function splitTokens(text: string): RdataToken[] {
  const tokens: RdataToken[] = []
  for (let i = 0; i < text.length;) {
    const code = text.charCodeAt(i)
    if (code === 32 || code === 9) {
      i++
      continue
    }
    if (code === 59 || code === 40 || code === 41)
      throw new RdataError(
        'syntax',
        'text',
        'an unquoted ";", "(" or ")". Quote the value, or write \\ before the character.',
      )
    if (code === 10 || code === 13)
      throw new RdataError('syntax', 'text', 'a line break. Write the record on one line.')
    const isString = code === 34
    const end = isString ? quotedEnd(text, i + 1) : unquotedEnd(text, i)
    if (end < 0)
      throw new RdataError(
        'syntax',
        'text',
        'a quote or an escape is not closed, or a quote is misplaced. Write a quote within a value as \\".',
      )
    tokens.push(text.slice(i, end))
    i = isString ? end + 1 : end
  }
  return tokens
}

/** Returns whether the type has its own text form. */
export function hasTextForm(type: number): boolean {
  return findRdataType(type) !== undefined
}
