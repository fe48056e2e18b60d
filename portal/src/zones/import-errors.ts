// The errors of a zone file with their lines, from the problem of the API. Pure.
import { ProblemError } from '@pharos/contract/client'
import { isForPeople } from '../ui/person-text.ts'
import { words } from './words.ts'

export type LineError = { readonly line: number; readonly message: string; readonly text: string }

/** Returns the errors that name a line, in the order of the file; empty for another problem. */
export function lineErrors(error: unknown): readonly LineError[] {
  if (!(error instanceof ProblemError)) return []
  return (error.problem.errors ?? [])
    .flatMap(({ ctx, msg }): LineError[] => {
      const line = Number(ctx?.['line'])
      if (!Number.isInteger(line) || line < 1) return []
      const text = typeof ctx?.['text'] === 'string' ? ctx['text'] : ''
      const message = msg.replace(/^line \d+: /, '')
      return [{ line, text, message: isForPeople(message) ? message : words.import.invalid }]
    })
    .toSorted((a, b) => a.line - b.line)
}
