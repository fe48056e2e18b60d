// The one error class that the product throws on purpose. It knows the public code and text, and no HTTP:
// the status comes from the contract's problem table at the edge. Anything else that is thrown is a bug (500).
import type { ProblemCode, ProblemError } from '@pharos/contract/problem'

export type FailureDetails = {
  readonly errors?: readonly ProblemError[]
  /** Seconds after which a repeat makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The dependencies that are down; becomes `degraded`. */
  readonly degraded?: readonly string[]
  readonly cause?: unknown
}

/** A failure that the caller is told about: `code` from the closed list, `message` is public text. */
export class Failure extends Error {
  readonly code: ProblemCode
  readonly errors: readonly ProblemError[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly degraded: readonly string[] | undefined

  constructor(code: ProblemCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'Failure'
    this.code = code
    this.errors = details.errors
    this.retryAfterSeconds = details.retryAfterSeconds
    this.degraded = details.degraded
  }
}

/** Returns a 422 about one place: `invalid(['body', 'region'], 'unknown region', 'unknown', { valid: [...] })`. */
export function invalid(
  loc: ProblemError['loc'],
  msg: string,
  type: string,
  ctx?: ProblemError['ctx'],
): Failure {
  return invalidRequest([ctx ? { loc, msg, type, ctx } : { loc, msg, type }])
}

/** Returns a 422 with all its errors. Its message is the first error in full, so that a log line alone is of use. */
export function invalidRequest(errors: readonly ProblemError[]): Failure {
  const { loc, msg } = errors[0]!
  return new Failure('invalid', `${loc.join('.')} ${msg}.`, { errors })
}

/** A 404 that does not tell an absent object from another team's. */
export function notFound(noun: string): Failure {
  return new Failure('not_found', `There is no such ${noun}.`)
}
