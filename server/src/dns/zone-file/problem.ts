// The problems of a zone file as codes with a line. The text of a problem is for people; behaviour depends on the code.

export type ZoneFileProblemCode =
  | 'quote'
  | 'unopened_parenthesis'
  | 'unclosed_parenthesis'
  | 'entry_too_long'
  | 'control_character'
  | 'owner'
  | 'owner_missing'
  | 'ttl'
  | 'ttl_missing'
  | 'class'
  | 'type'
  | 'type_missing'
  | 'type_refused'
  | 'rdata'
  | 'directive'
  | 'include'
  | 'generate'
  | 'file_too_large'
  | 'too_many_records'

/** Conditions under which a record is taken with a change, or as it is against advice. */
export type ZoneFileWarningCode =
  | 'ttl_above_max'
  | 'ttl_automatic'
  | 'ttl_from_soa'
  | 'rdata_advice'
  | 'relative_target'

type Place = {
  /** From 1. */
  readonly line: number
  /** The start of the line. One character for each octet. */
  readonly text: string
  /** The error, then the fix. */
  readonly message: string
}

export type ZoneFileProblem = Place & { readonly code: ZoneFileProblemCode; readonly field?: string }
export type ZoneFileWarning = Place & { readonly code: ZoneFileWarningCode }

/** An error of one entry. The parser adds the line. */
export class EntryFailure extends Error {
  readonly code: ZoneFileProblemCode
  readonly field: string | undefined

  constructor(code: ZoneFileProblemCode, message: string, field?: string) {
    super(message)
    this.name = 'EntryFailure'
    this.code = code
    this.field = field
  }
}

export const problemMessages = {
  quote:
    'A quoted string or an escape is not closed on its line, or a quote is misplaced. Write a quote as \\" and a line break as \\010.',
  unopened_parenthesis: 'A closing parenthesis has no opening one. Remove it.',
  unclosed_parenthesis:
    'The opening parenthesis is not closed before the end of the file. Add the closing one.',
  entry_too_long: 'A record has more than 64 kB of text. Check for a missing closing parenthesis.',
  control_character:
    'The line contains a NUL octet, or a carriage return before its end. Save the file as plain text.',
} as const
