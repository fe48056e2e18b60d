// The sealed form of an entry, unambiguous for every content. A change of this format is a new version: seals of older versions must
// still verify.
import { createHmac } from 'node:crypto'

/** Every column of audit_entries, in the order in which they are written. */
export const sealedColumns = [
  'id',
  'at',
  'team_id',
  'actor',
  'credential',
  'by_staff',
  'action',
  'target',
  'before',
  'after',
  'request_id',
  'address',
] as const

/**
 * An entry as text, each column as PostgreSQL writes it with nothing depending on a setting: `at` in microseconds since
 * 1970, `by_staff` true or false, `before` and `after` as jsonb writes itself (its own order of keys, numbers with all
 * their digits), `address` with its length. See entryText in seal.store.ts.
 */
export type EntryText = Readonly<Record<(typeof sealedColumns)[number], string | null>>

/**
 * Version 1, in UTF-8: a line with the version, the line `sequence <number>`, and a line for each column: its name, a space, the length
 * of the value in bytes, a colon, the value; or the name, a space and `-` if it is null. The lengths make it unambiguous for all
 * values.
 */
export function canonicalText(sequence: number, entry: EntryText): string {
  const lines = sealedColumns.map((column) => `${column} ${withLength(entry[column])}\n`)
  return `pharos audit 1\nsequence ${sequence}\n${lines.join('')}`
}

const withLength = (value: string | null): string =>
  value === null ? '-' : `${Buffer.byteLength(value)}:${value}`

/** In the place of the hash before the first. */
export const chainStart = Buffer.alloc(32)

/** The link at a sequence: HMAC-SHA256 of the hash before it (32 bytes), followed by the canonical text. */
export function sealHash(key: Buffer, previous: Buffer, sequence: number, entry: EntryText): Buffer {
  return createHmac('sha256', key).update(previous).update(canonicalText(sequence, entry)).digest()
}
