// Assigns errors of the API to form fields, and forms their sentences. Pure.
import { ProblemError } from '@pharos/contract/client'
import type { FieldBreach } from './form-rules.ts'
import { isForPeople } from './person-text.ts'
import { words } from './words.ts'

export type PlacedErrors = {
  /** Sentences by the name of the field. */
  readonly fields: Readonly<Record<string, string>>
  /** The error without the errors of fields; undefined if every error belongs to a field. */
  readonly rest: unknown
}

/**
 * Places each of a problem's errors at the field that its `loc` names: `['body', 'scopes', 0]` belongs to `scopes`. The
 * names of the fields are the request's; `labels` are their texts in the form. A wrong current password belongs to its
 * field too.
 */
export function placeErrors(
  error: unknown,
  names: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): PlacedErrors {
  if (!(error instanceof ProblemError)) return { fields: {}, rest: error ?? undefined }
  if (error.problem.code === 'wrong_password' && names.includes('current_password'))
    return { fields: { current_password: words.problems.wrong_password.detail }, rest: undefined }
  const errors = error.problem.errors ?? []
  const nameOf = (loc: readonly (string | number)[]) => names.find((name) => loc.slice(1).includes(name))
  const fields: Record<string, string> = {}
  for (const one of errors) {
    const name = nameOf(one.loc)
    if (name === undefined) continue
    const text = errorSentence(labels[name], one)
    if (!fields[name]?.includes(text)) fields[name] = name in fields ? `${fields[name]} ${text}` : text
  }
  const unplaced = errors.filter(({ loc }) => nameOf(loc) === undefined)
  if (unplaced.length === errors.length) return { fields: {}, rest: error }
  if (unplaced.length === 0) return { fields, rest: undefined }
  return { fields, rest: new ProblemError({ ...error.problem, errors: unplaced }, error.retryAfterSeconds) }
}

/** Returns an error as a sentence with the label as its subject: `URL must begin with https://.` */
export function errorSentence(label = 'The value', { type, msg, ctx }: FieldBreach): string {
  if (type === 'required' || msg === 'must not be empty' || ctx?.['limit'] === 1)
    return words.field.isRequired(label)
  if (type === 'too_far') return words.field.isTooFar(label)
  // An option that is not known, a wrong type: not typed by the user.
  if (!isForPeople(msg)) return words.field.isNotValid(label)
  return `${label} ${msg}${/[.!?]$/.test(msg) ? '' : '.'}`
}
