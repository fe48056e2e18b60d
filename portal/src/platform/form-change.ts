// Changes of the platform that a form makes, with the field of the form for each of their values: an error is at the field. Pure.
import type { changePlatformRoute } from '@pharos/contract/operator/platform'
import type { BodyOf } from '@pharos/contract/route'

export type Changes = BodyOf<typeof changePlatformRoute>['changes']

export type FormChange<Field extends string = string> = {
  readonly change: Changes[number]
  readonly fields: Readonly<Record<string, Field>>
}

/** Returns the place of an error in the form: `body.changes.1.values.prefix` is the field `prefixes`. */
export function formPlace(
  changes: readonly FormChange[],
  loc: readonly (string | number)[],
): (string | number)[] {
  const [, , at, , field] = loc
  const change = changes[Number(at)]
  const name = change && (change.fields[String(field)] ?? Object.values(change.fields)[0])
  return name === undefined ? [...loc] : ['body', name]
}
