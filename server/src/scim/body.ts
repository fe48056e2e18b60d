// Reads JSON of a foreign system: names of attributes are compared without case (RFC 7643, 2.1), and every type is checked.
import { ScimError } from './error.ts'

/** The attributes of an object, by their names in lower case. */
export type ScimAttributes = ReadonlyMap<string, unknown>

/** Throws ScimError for another type, and for two names that differ in case only. */
export function scimAttributes(value: unknown): ScimAttributes {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ScimError('syntax')
  const known = new Map<string, unknown>()
  for (const [name, content] of Object.entries(value)) {
    const lower = name.toLowerCase()
    if (known.has(lower)) throw new ScimError('syntax')
    known.set(lower, content)
  }
  return known
}

/** Returns the text; null if it is absent, null or empty. Throws ScimError for other types, control characters, and texts that are too long. */
export function scimText(value: unknown, lengthMax: number): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string' || [...value].length > lengthMax || /\p{Cc}/u.test(value))
    throw new ScimError('value')
  return value
}

/** Entra ID writes booleans as texts: `"False"`. */
export function scimBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const lower = typeof value === 'string' ? value.toLowerCase() : undefined
  if (lower === 'true' || lower === 'false') return lower === 'true'
  throw new ScimError('value')
}

/** Returns the elements; a single value counts as a list of one. */
export function scimList(value: unknown, lengthMax: number): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : [value]
  if (list.length > lengthMax) throw new ScimError('tooMany')
  return list
}
