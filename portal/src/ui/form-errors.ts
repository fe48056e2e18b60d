// Assigns errors of the API to form fields. Pure.
import { ProblemError } from '@pharos/contract/client'

export type PlacedErrors = {
  /** Messages by the name of the field. */
  readonly fields: Readonly<Record<string, string>>
  /** The error without those of fields; undefined if every error belongs to a field. */
  readonly rest: unknown
}

/**
 * Places each of a problem's errors at the field that its `loc` names: `['body', 'scopes', 0]` belongs to `scopes`. The
 * names of the fields are those of the request.
 */
export function placeErrors(error: unknown, names: readonly string[]): PlacedErrors {
  if (!(error instanceof ProblemError)) return { fields: {}, rest: error ?? undefined }
  const errors = error.problem.errors ?? []
  const nameOf = (loc: readonly (string | number)[]) => names.find((name) => loc.slice(1).includes(name))
  const fields: Record<string, string> = {}
  for (const { loc, msg } of errors) {
    const name = nameOf(loc)
    if (name !== undefined) fields[name] = name in fields ? `${fields[name]}; ${msg}` : msg
  }
  const unplaced = errors.filter(({ loc }) => nameOf(loc) === undefined)
  if (unplaced.length === errors.length) return { fields: {}, rest: error }
  if (unplaced.length === 0) return { fields, rest: undefined }
  return { fields, rest: new ProblemError({ ...error.problem, errors: unplaced }, error.retryAfterSeconds) }
}
