// The entity tag of a record with a version, and the precondition on it.
import { createHash } from 'node:crypto'
import { fail } from '../runtime/error.ts'

/**
 * With the quotes: `"7"`. `beside` is what the answer shows that has no version, such as checks: `"7.Jx3..."`. A record
 * without a version of its own has in its place what a client can change of it.
 */
export function etagOf(version: number | object, beside?: unknown): string {
  const known = typeof version === 'number' ? version : digestOf(version)
  return beside === undefined ? `"${known}"` : `"${known}.${digestOf(beside)}"`
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)

/** Throws 412 unless the If-Match list is absent, is `*`, or names the tag; a weak tag never matches (RFC 9110 13.1.1). */
export function requireMatch(ifMatch: string | null, etag: string): void {
  if (ifMatch === null) return
  if (ifMatch.split(',').some((tag) => tag.trim() === '*' || versionTag(tag.trim()) === etag)) return
  throw fail('precondition_failed', 'etag', { etag })
}

/** What is shown beside the record does not matter to who changes it. */
const versionTag = (tag: string): string => tag.replace(/\.[\w-]+"$/, '"')
