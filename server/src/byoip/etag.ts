// The entity tag of a record with a version, and the precondition on it.
import { Failure } from '../runtime/error.ts'

/** With the quotes: `"7"`. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** Throws 412 unless the If-Match list is absent, is `*`, or names the tag; a weak tag never matches (RFC 9110 13.1.1). */
export function requireMatch(ifMatch: string | null, etag: string): void {
  if (ifMatch === null) return
  if (ifMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim() === etag)) return
  throw new Failure('precondition_failed', `The record has changed: its ETag is now ${etag}.`)
}
