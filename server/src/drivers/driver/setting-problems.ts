// Problems of the settings of a driver, found by their schema.
import type { TSchema } from 'typebox'
import { createSchemaCheck, describeProblem, type SchemaPath } from '../../text/schema-error.ts'

/** `path` is the path to the invalid setting. */
export type SettingProblem = { readonly path: SchemaPath; readonly message: string }

/**
 * Returns a function that lists the problems of a driver's settings; an empty list means that the schema accepts them. `owner` names
 * the element that has them.
 */
export function settingsCheck(
  schema: TSchema,
  owner = 'the speaker',
): (settings: unknown) => readonly SettingProblem[] {
  const check = createSchemaCheck(schema, { showValues: true })
  return (settings) =>
    check(settings).map((problem) => ({
      path: problem.path,
      message: describeProblem(problem, owner),
    }))
}
