// Failures of the flow store as answers of the API.
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import { fail } from '../runtime/error.ts'

/** Returns the failure that an operation answers: 503 with `degraded`, or query_too_expensive. Any other error is returned unchanged. */
export function asFlowFailure(error: unknown): unknown {
  if (error instanceof QueryTooExpensive)
    return fail('query_too_expensive', 'flows', { retryAfterSeconds: 60, cause: error })
  if (!(error instanceof DriverError) || error.kind === 'refused') return error
  return fail('unavailable', 'flows', { degraded: ['clickhouse'], retryAfterSeconds: 10, cause: error })
}
