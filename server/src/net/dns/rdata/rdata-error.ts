// The error of record data that cannot be stored. It knows no HTTP and no line numbers: the caller that received the text converts it.

export type RdataErrorReason =
  /** A field is missing. */
  | 'missing'
  /** Something follows the last field. */
  | 'extra'
  | 'syntax'
  | 'range'
  | 'length'
  /** Every field is well-formed, but together they are meaningless or mean something else than intended. */
  | 'meaning'
  /** The type has no presentation format here. */
  | 'type'

/** `message` is public text: the problem, then the remedy. It names the field and never repeats the input. */
export class RdataError extends Error {
  readonly reason: RdataErrorReason
  /** The field's name in its RFC, in lower case: `preference`, `key tag`. */
  readonly field: string

  constructor(reason: RdataErrorReason, field: string, message: string) {
    super(`${field}: ${message}`)
    this.name = 'RdataError'
    this.reason = reason
    this.field = field
  }
}
