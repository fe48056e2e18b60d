// Collects errors of parts of a request, so that an answer names all of them.
import type { ProblemError } from '@pharos/contract/problem'
import { Failure } from './error.ts'

/** Returns undefined for a part that is invalid, and adds its errors instead of throwing them. */
export function collect<Value>(errors: ProblemError[], read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid') throw error
    errors.push(...error.errors!)
    return undefined
  }
}
