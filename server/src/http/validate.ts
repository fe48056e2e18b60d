// Checks the parts of a request by their schemas: no coercion, every error with its place. Queries, paths and the fields of
// forms arrive as text: query.ts reads them, and checks them here afterwards.
import type { TSchema } from 'typebox'
import { failWith } from '../runtime/error.ts'
import { createSchemaCheck } from '../runtime/schema-error.ts'

export type Check = (value: unknown) => void

/** Creates a check for one part of the request; it throws a 422 that lists everything that is wrong with the part. */
export function createCheck(part: 'body' | 'query' | 'path', schema: TSchema): Check {
  const check = createSchemaCheck(schema)
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
