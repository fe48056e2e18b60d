// The error class for expected failures, and the functions that create it from the catalogue of messages. It knows
// no HTTP: the status comes from the contract's problem table at the edge. Any other error is a bug (500).
import type { ProblemCode, ProblemError } from '@pharos/contract/problem'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import {
  failureTexts,
  invalidTexts,
  textOf,
  type FailureAttrs,
  type FailureTexts,
  type InvalidAttrs,
  type InvalidCondition,
} from './messages.ts'

/** State of a rate limit: size of a burst, requests left, and seconds until all are available again. */
export type RateState = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

export type FailureDetails = {
  readonly errors?: readonly ProblemError[]
  /** Seconds after which a repeat makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The dependencies that are down; becomes `degraded`. */
  readonly degraded?: readonly string[]
  /** The limit that refused the request; becomes the `RateLimit` headers. */
  readonly rate?: RateState
  readonly cause?: unknown
}

/** A failure that is reported to the caller: `code` from the closed list, `message` is public text. Created by `fail`. */
export class Failure extends Error {
  readonly code: ProblemCode
  readonly errors: readonly ProblemError[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly degraded: readonly string[] | undefined
  readonly rate: RateState | undefined

  constructor(code: ProblemCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'Failure'
    this.code = code
    this.errors = details.errors
    this.retryAfterSeconds = details.retryAfterSeconds
    this.degraded = details.degraded
    this.rate = details.rate
  }
}

type FailArgs<A> = A extends undefined ? [details?: FailureDetails] : [attrs: A, details?: FailureDetails]

/** Returns a failure with a message of the catalogue: `fail('quota_exceeded', 'webhooks', { limit })`. */
export function fail<C extends keyof FailureTexts, N extends keyof FailureTexts[C] & string>(
  code: C,
  condition: N,
  ...rest: FailArgs<FailureAttrs<C, N>>
): Failure {
  const text = failureTexts[code][condition] as string | ((attrs: never) => string)
  const [attrs, details] = typeof text === 'string' ? [undefined, rest[0]] : rest
  return new Failure(
    code,
    textOf(text, attrs as Readonly<Record<string, unknown>>),
    details as FailureDetails,
  )
}

type ErrorArgs<A> = A extends undefined ? [ctx?: ProblemError['ctx']] : [attrs: A & ProblemError['ctx']]

/** Returns an error of the catalogue at a place: `errorAt(['body', 'region'], 'region', { valid })`. */
export function errorAt<N extends InvalidCondition>(
  loc: ProblemError['loc'],
  condition: N,
  ...[ctx]: ErrorArgs<InvalidAttrs<N>>
): ProblemError {
  const [type, text] = invalidTexts[condition]
  return { loc, msg: textOf(text, ctx), type, ...(ctx ? { ctx } : {}) }
}

/** Returns a 422 with one error of the catalogue. */
export function invalid<N extends InvalidCondition>(
  loc: ProblemError['loc'],
  condition: N,
  ...ctx: ErrorArgs<InvalidAttrs<N>>
): Failure {
  return failWith('invalid', [errorAt(loc, condition, ...ctx)])
}

/** Returns a failure with all its errors. Its message is the first of them in full, so that a log line alone is useful. */
export function failWith(code: ProblemCode, errors: readonly ProblemError[]): Failure {
  const { loc, msg } = errors[0]!
  return new Failure(code, `${loc.join('.')}: ${msg}${msg.endsWith('.') ? '' : '.'}`, { errors })
}

/**
 * Returns the error for a text at a place that is not an address or a prefix; `canonical` is the suggested replacement.
 */
export function prefixErrorAt(
  loc: ProblemError['loc'],
  { message: msg, reason: type, canonical }: PrefixError,
): ProblemError {
  return { loc, msg, type, ...(canonical === undefined ? {} : { ctx: { canonical } }) }
}

/** Parses the address or prefix at a place of the request; an address is its /32 or /128. Throws `invalid`. */
export function parsePrefixAt(loc: ProblemError['loc'], text: string): Prefix {
  try {
    return parsePrefixOrAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    throw failWith('invalid', [prefixErrorAt(loc, error)])
  }
}

/** Returns a 404 that does not distinguish an absent object from another team's. */
export const notFound = (noun: string): Failure => fail('not_found', 'object', { noun })
