// Changes that make a query about flows cheaper: the keys without which sums answer it, and a shorter window. Pure.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { ProblemError } from '@pharos/contract/problem'
import { errorAt, fail, Failure } from '../runtime/error.ts'
import { familyHas, type FlowFamily } from './flow-key.ts'
import type { FlowSource } from './flow-query.ts'

const sums: readonly FlowFamily[] = ['protocol', 'interface', 'service']
/** A query of this part of the window is tried next. */
const part = 4

/**
 * Returns the changes to suggest for a request: without keys that only single flows have, and with a later start. Sums
 * are read by minute or by hour.
 */
export function narrowingOf(
  keys: readonly FlowKey[],
  { family }: Pick<FlowSource, 'family'>,
  { start, end, seconds }: { readonly start: Date; readonly end: Date; readonly seconds: number },
): ProblemError[] {
  const errors: ProblemError[] = []
  const lacking = sums
    .map((one) => keys.filter((key) => !familyHas(one, [key])))
    .reduce((fewest, one) => (one.length < fewest.length ? one : fewest))
  if (family === 'flows' && lacking.length > 0)
    errors.push(errorAt(['body', 'group_by'], 'flowKeysOfSums', { keys: [...lacking], resolution: 60 }))
  else if (family === 'flows' && seconds < 60)
    errors.push(errorAt(['body', 'interval'], 'flowIntervalOfSums', { resolution: 60 }))
  const windowMs = end.getTime() - start.getTime()
  errors.push(
    errorAt(['body', 'start'], 'flowWindow', {
      start: new Date(end.getTime() - windowMs / part).toISOString(),
    }),
  )
  return errors
}

/** Awaits an answer. If the query is too expensive, its failure names the changes of the request. */
export async function withNarrowing<T>(
  answer: Promise<T>,
  errors: () => readonly ProblemError[],
): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'query_too_expensive') throw error
    const { retryAfterSeconds = 60 } = error
    throw fail('query_too_expensive', 'flows', { errors: errors(), retryAfterSeconds, cause: error })
  }
}
