// Problems of the settings of a driver, found by their schema.
import type { TObject } from 'typebox'

export type SettingProblem = { readonly path: readonly (string | number)[]; readonly message: string }

/** Returns what is wrong with the settings; none if the schema accepts them. */
export function settingProblems(
  _schema: TObject,
  _settings: Readonly<Record<string, unknown>>,
): SettingProblem[] {
  return []
}
