// The sealed form of an entry, unambiguous for any content. A change of this format is a new version: seals of older
// versions must still verify.
import { createHmac } from 'node:crypto'

/** Every column of audit_entries, in the order of the canonical text. */
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
 * An entry as text. Each column has PostgreSQL's text form, independent of any setting: `at` in microseconds since
 * 1970, `by_staff` as true or false, `before` and `after` as jsonb prints them (its own key order, all digits of
 * numbers), `address` with its prefix length. See entryText in seal.store.ts.
 */
export type EntryText = Readonly<Record<(typeof sealedColumns)[number], string | null>>

/**
 * Version 1, in UTF-8: a line with the version, a line `sequence <number>`, and a line per column with its name, a
 * space, the length of the value in bytes, a colon and the value, or with the name, a space and `-` if it is null. The
 * lengths make it unambiguous for any value.
 */
export function canonicalText(sequence: number, entry: EntryText): string {
  const lines = sealedColumns.map((column) => `${column} ${withLength(entry[column])}\n`)
  return `pharos audit 1\nsequence ${sequence}\n${lines.join('')}`
}

const withLength = (value: string | null): string =>
  value === null ? '-' : `${Buffer.byteLength(value)}:${value}`

/** Replaces the previous hash for the first seal. */
export const chainStart = Buffer.alloc(32)

/** The seal at a sequence: HMAC-SHA256 of the previous hash (32 bytes) and the canonical text. */
export function sealHash(key: Buffer, previous: Buffer, sequence: number, entry: EntryText): Buffer {
  return createHmac('sha256', key).update(previous).update(canonicalText(sequence, entry)).digest()
}
