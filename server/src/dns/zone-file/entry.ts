// Splits a zone file into entries: the tokens of a line, or of the lines that parentheses join (RFC 1035 section 5.1). `parser.ts` interprets them.
import { quotedEnd, unquotedEnd } from '../../net/dns/token.ts'
import type { RdataToken } from '../../net/dns/token.ts'

/** Octets of the longest entry, all its lines together. */
const entryLengthMax = 65_536

/** Why an entry cannot be split. Parsing ends after `unclosed_parenthesis` and `entry_too_long`. */
export type EntryError =
  | 'quote'
  | 'unopened_parenthesis'
  | 'unclosed_parenthesis'
  | 'entry_too_long'
  | 'control_character'

/** One entry. The reader reuses the object. */
export type ZoneFileEntry = {
  tokens: RdataToken[]
  /** The line it starts on, from 1. */
  line: number
  /** It starts with white space: its owner is the last one. */
  isIndented: boolean
  error: EntryError | undefined
}

const tab = 9
const newline = 10
const space = 32

export class EntryReader {
  readonly entry: ZoneFileEntry = { tokens: [], line: 1, isIndented: false, error: undefined }
  readonly #text: string
  readonly #hasNul: boolean
  #at = 0
  #line = 1
  #start = 0

  /** `text` has one character for each octet. */
  constructor(text: string) {
    this.#text = text
    this.#hasNul = text.includes('\0')
    // A byte order mark of UTF-8.
    if (text.startsWith('\u00ef\u00bb\u00bf')) this.#at = 3
  }

  /** Moves to the next entry that has tokens or an error; false at the end. */
  next(): boolean {
    const { entry } = this
    while (this.#at < this.#text.length) {
      entry.tokens = []
      entry.error = undefined
      entry.line = this.#line
      this.#start = this.#at
      const code = this.#text.charCodeAt(this.#at)
      entry.isIndented = code === space || code === tab
      this.#readEntry()
      if (entry.tokens.length > 0 || entry.error) return true
    }
    return false
  }

  /** Returns the text of the entry on its first line, at most `length` characters of it. */
  textOfEntry(length: number): string {
    const end = this.#text.indexOf('\n', this.#start)
    return this.#text
      .slice(this.#start, end < 0 ? undefined : end)
      .trimEnd()
      .slice(0, length)
  }

  #readEntry(): void {
    const { entry } = this
    const text = this.#text
    const { tokens } = entry
    let depth = 0
    let i = this.#at
    scan: for (; i < text.length;) {
      if (i - this.#start > entryLengthMax) return this.#stop('entry_too_long')
      const code = text.charCodeAt(i)
      switch (code) {
        case space:
        case tab:
          i++
          break
        case 13:
          // Some programs write two carriage returns before a line feed. A single one without a line feed is refused,
          // because other parsers treat it as a line break.
          while (text.charCodeAt(i) === 13) i++
          if (i < text.length && text.charCodeAt(i) !== newline) return this.#skipLine(i, 'control_character')
          break
        case newline:
          i++
          this.#line++
          if (depth === 0) break scan
          break
        case 59: {
          const end = text.indexOf('\n', i)
          i = end < 0 ? text.length : end
          break
        }
        case 40:
          depth++
          i++
          break
        case 41:
          if (depth-- === 0) return this.#skipLine(i, 'unopened_parenthesis')
          i++
          break
        case 34: {
          const end = quotedEnd(text, i + 1)
          if (end < 0) return this.#skipLine(i, 'quote')
          tokens.push(text.slice(i, end))
          i = end + 1
          break
        }
        default: {
          const end = unquotedEnd(text, i)
          if (end < 0) return this.#skipLine(i, 'quote')
          tokens.push(text.slice(i, end))
          i = end
        }
      }
    }
    if (depth > 0) return this.#stop('unclosed_parenthesis')
    if (i - this.#start > entryLengthMax) return this.#stop('entry_too_long')
    this.#at = i
    if (this.#hasNul && text.slice(this.#start, i).includes('\0')) entry.error = 'control_character'
  }

  /** Reports an error and continues with the line after the line of `at`. */
  #skipLine(at: number, error: EntryError): void {
    const end = this.#text.indexOf('\n', at)
    this.#at = end < 0 ? this.#text.length : end + 1
    this.#line++
    this.entry.error = error
  }

  #stop(error: EntryError): void {
    this.#at = this.#text.length
    this.entry.error = error
  }
}
