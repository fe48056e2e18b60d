// What the operator may write about a detector: its kind, and the settings that its kind takes.
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { isTimezone } from './check-context.ts'
import { nearest } from '../runtime/nearest.ts'

export type SourceProblem = { readonly path: readonly string[]; readonly message: string }

/**
 * The kinds of detectors, each with the settings that it takes beside `timezone` and `location`. What a mapping means
 * is said where it is used, in analysis.
 */
const kinds = {
  fastnetmon: {},
  generic: { mapping: Type.Record(Type.String(), Type.Unknown()) },
} as const

const common = { timezone: Type.String(), location: Type.String() }

/** What is wrong with the kind or the settings of a source. */
export function checkSource(
  kind: string,
  settings: Readonly<Record<string, unknown>>,
): readonly SourceProblem[] {
  const names = Object.keys(kinds)
  if (!Object.hasOwn(kinds, kind)) {
    const message = `there is no kind ${kind}${nearest(kind, names) || `; there are ${names.join(', ')}`}`
    return [{ path: ['kind'], message }]
  }
  const known: Record<string, unknown> = { ...common, ...kinds[kind as keyof typeof kinds] }
  const problems: SourceProblem[] = []
  for (const [name, value] of Object.entries(settings)) {
    const path = ['settings', name]
    if (!Object.hasOwn(known, name)) {
      const others = Object.keys(known)
      const instead = nearest(name, others) || `; there are ${others.join(', ')}`
      problems.push({ path, message: `a source of kind ${kind} has no setting ${name}${instead}` })
    } else if (!Value.Check(known[name] as never, value)) {
      problems.push({
        path,
        message: `${name} must be ${name === 'mapping' ? 'a list of name: value' : 'a text'}`,
      })
    } else if (name === 'timezone' && !isTimezone(String(value))) {
      problems.push({ path, message: `${String(value)} is no IANA time zone; one is Europe/Amsterdam` })
    }
  }
  return problems
}
