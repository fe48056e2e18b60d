// A field of record data: parsing of its text, skipping of its octets with all checks, and printing. `table.ts`
// composes the types of fields.
import { NameError, readEscape, readName } from '../name.ts'
import { isQuoted } from '../token.ts'
import type { RdataToken } from '../token.ts'
import { RdataError } from './rdata-error.ts'
import type { RdataErrorReason } from './rdata-error.ts'

export type FieldKind = {
  /** Parses tokens and appends octets. Throws RdataError. */
  readonly parse: (tokens: TokenReader, out: Output) => void
  /** Moves behind the field. Throws RdataError if it is malformed. */
  readonly skip: (data: Cursor) => void
  /**
   * Prints a well-formed field in canonical text and advances past it. An empty text is skipped. Throws RdataError if
   * it has no text form.
   */
  readonly print: (data: Cursor) => string
  /** A name that the canonical form of DNSSEC has in lower case (RFC 4034 section 6.2, RFC 6840 section 5.1). */
  readonly isLowered?: true
}

/** Octets of the largest record data. */
export const rdataLengthMax = 65_535

/** The tokens of one record's data. `field` names the field that is parsed, for errors. */
export class TokenReader {
  readonly tokens: readonly RdataToken[]
  readonly origin: Uint8Array | undefined
  /** Splits strings of more than 255 octets instead of refusing them. */
  readonly splitsStrings: boolean
  field = ''
  #at: number

  constructor(
    tokens: readonly RdataToken[],
    start: number,
    origin: Uint8Array | undefined,
    splitsStrings = false,
  ) {
    this.tokens = tokens
    this.#at = start
    this.origin = origin
    this.splitsStrings = splitsStrings
  }

  get isAtEnd(): boolean {
    return this.#at >= this.tokens.length
  }

  /** Returns the next token, quoted or not. */
  next(): RdataToken {
    if (this.#at >= this.tokens.length) throw this.error('missing', 'missing. Add the field.')
    return this.tokens[this.#at++]!
  }

  /** Returns the next token, which must not be quoted. */
  word(): string {
    const token = this.next()
    if (isQuoted(token)) throw this.error('syntax', 'quoted. Write it without quotes.')
    return token
  }

  /** Returns the tokens that are left, joined. At least one. */
  rest(): string {
    let text = this.word()
    while (!this.isAtEnd) text += this.word()
    return text
  }

  error(reason: RdataErrorReason, message: string): RdataError {
    return new RdataError(reason, this.field, message)
  }
}

/** Octets of written record data. Above the largest length octets are dropped; `parseRdataTokens` checks the end. */
export class Output {
  readonly wire: Uint8Array
  end = 0

  constructor(capacity = rdataLengthMax + 1) {
    this.wire = new Uint8Array(capacity)
  }

  octet(value: number): void {
    this.wire[this.end++] = value
  }

  uint16(value: number): void {
    this.wire[this.end++] = value >> 8
    this.wire[this.end++] = value
  }

  uint32(value: number): void {
    this.uint16(value >>> 16)
    this.uint16(value & 0xffff)
  }

  octets(octets: Uint8Array): void {
    for (const octet of octets) this.wire[this.end++] = octet
  }

  /** Appends the name of a token. Throws RdataError. */
  name(token: string, tokens: TokenReader): void {
    try {
      this.end = readName(token, 0, token.length, tokens.origin, this.wire, this.end)
    } catch (error) {
      if (error instanceof NameError) throw tokens.error('syntax', `${error.message}.`)
      throw error
    }
  }

  /** Appends the octets of `text[start, end)` with its escapes resolved. Throws RdataError. */
  text(text: string, start: number, end: number, tokens: TokenReader): void {
    for (let i = start; i < end;) {
      let octet = text.charCodeAt(i++)
      if (octet === 92) {
        octet = readEscape(text, i, end)
        if (octet < 0)
          throw tokens.error(
            'syntax',
            'malformed escape. Write \\DDD with a number up to 255, or \\ and one character.',
          )
        const first = text.charCodeAt(i)
        i += first >= 48 && first <= 57 ? 3 : 1
      } else if (octet === 34) {
        throw tokens.error(
          'syntax',
          'a quote within the value. Quote the whole value, and write a quote as \\".',
        )
      } else if (octet > 255) {
        throw tokens.error(
          'syntax',
          'contains a character beyond octet 255. Write its UTF-8 octets as \\DDD.',
        )
      }
      this.wire[this.end++] = octet
    }
  }
}

/** A position in record data. `field` names the field that is read, for errors. */
export class Cursor {
  readonly wire: Uint8Array
  at = 0
  field = ''

  constructor(wire: Uint8Array) {
    this.wire = wire
  }

  get left(): number {
    return this.wire.length - this.at
  }

  /** Moves over `length` octets and returns where they start. */
  take(length: number): number {
    if (length > this.left) throw this.error('length', 'cut off. Check the length of the data.')
    const start = this.at
    this.at += length
    return start
  }

  octet(): number {
    return this.wire[this.take(1)]!
  }

  uint16(): number {
    const at = this.take(2)
    return (this.wire[at]! << 8) | this.wire[at + 1]!
  }

  uint32(): number {
    const high = this.uint16()
    return high * 65_536 + this.uint16()
  }

  /** Returns the next `length` octets without copying; by default all that are left. */
  octets(length = this.left): Uint8Array {
    const start = this.take(length)
    return this.wire.subarray(start, this.at)
  }

  error(reason: RdataErrorReason, message: string): RdataError {
    return new RdataError(reason, this.field, message)
  }
}
