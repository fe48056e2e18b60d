// The changes in the answer to a dry run: a rule of the server, with which the examples of the document are made as well.
import type { Static } from 'typebox'
import type { FieldChange } from './scalar.ts'

/** Returns the fields in which two records differ, in their order; an absent field counts as null. */
export function changesBetween(before: object, after: object): Static<typeof FieldChange>[] {
  const [was, is] = [before, after] as Record<string, unknown>[]
  return Object.keys({ ...is, ...was })
    .map((field) => ({ field, before: was![field] ?? null, after: is![field] ?? null }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after))
}
