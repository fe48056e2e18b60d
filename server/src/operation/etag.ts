// The entity tag of a resource with a version, and the precondition on it.
import { createHash } from 'node:crypto'
import { fail } from '../runtime/error.ts'

/**
 * Returns the tag with its quotes: `"7"`. `beside` is the unversioned part of the response, such as checks:
 * `"7.Jx3..."`. For a resource without a version, it is the part that a client can change.
 */
export function etagOf(version: number | object, beside?: unknown): string {
  const known = typeof version === 'number' ? version : digestOf(version)
  return beside === undefined ? `"${known}"` : `"${known}.${digestOf(beside)}"`
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)

/**
 * The condition of `If-None-Match: *` on a change, in the place of If-Match: no tag matches, so that only missing
 * resources are created.
 */
export const onlyAbsent = 'absent'

/** Throws 412 if the condition needs an existing resource, which the caller has not found. */
export function requireNoMatch(ifMatch: string | null): void {
  if (ifMatch !== null && ifMatch !== onlyAbsent) throw fail('precondition_failed', 'absent')
}

/** Throws 412 unless the If-Match list is absent, is `*`, or names the tag; a weak tag never matches (RFC 9110 13.1.1). */
export function requireMatch(ifMatch: string | null, etag: string): void {
  if (ifMatch === null) return
  if (ifMatch === onlyAbsent) throw fail('precondition_failed', 'present', { etag })
  if (ifMatch.split(',').some((tag) => tag.trim() === '*' || versionTag(tag.trim()) === etag)) return
  throw fail('precondition_failed', 'etag', { etag })
}

/** The unversioned part does not matter to a client that changes the resource. */
const versionTag = (tag: string): string => tag.replace(/\.[\w-]+"$/, '"')
