// Validates the parts of a request by their schemas: no coercion, every error with its location. Queries, paths and
// form fields arrive as text: query.ts parses them first, then validates them here.
import type { TSchema } from 'typebox'
import { failWith } from '../runtime/error.ts'
import { createSchemaCheck, type CheckOptions } from '../text/schema-error.ts'

export type Validator = (value: unknown) => void

/** Returns a validator for one part of the request; it throws a 422 that lists all errors of the part. */
export function createCheck(
  part: 'body' | 'query' | 'path',
  schema: TSchema,
  options: CheckOptions = {},
): Validator {
  const check = createSchemaCheck(schema, options)
  return (value) => {
    const problems = check(value)
    if (problems.length === 0) return
    throw failWith(
      'invalid',
      problems.map(({ path, message, type, ctx }) => {
        const error = { loc: [part, ...path], msg: message, type }
        return ctx ? { ...error, ctx } : error
      }),
    )
  }
}
