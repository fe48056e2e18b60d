// The closed list of error codes. A code is added here or nowhere: the HTTP status, the title and the
// documentation page of every problem+json answer (RFC 9457) come from this table.
// What a particular answer says beyond that (detail, errors) is set where the error is thrown.

export const problems = {
  malformed: { status: 400, title: 'The request cannot be read' },
  invalid_token: { status: 400, title: 'The token is unknown, expired or used' },
  unauthenticated: { status: 401, title: 'No valid credential' },
  invalid_credentials: { status: 401, title: 'Wrong e-mail or password' },
  token_not_valid: { status: 401, title: 'The refresh token is not valid' },
  otp_required: { status: 401, title: 'A second factor is required' },
  forbidden: { status: 403, title: 'The role does not allow this' },
  scope_missing: { status: 403, title: 'The API token lacks the scope' },
  module_disabled: { status: 403, title: 'The module is not enabled for the team' },
  email_unconfirmed: { status: 403, title: 'The e-mail address is not confirmed' },
  quota_exceeded: { status: 403, title: 'The quota is used up' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  not_validated: { status: 409, title: 'The announcement is not validated' },
  suspended: { status: 409, title: 'Suspended by the operator' },
  conflict: { status: 409, title: 'The state does not allow this' },
  idempotency_in_flight: { status: 409, title: 'The same request is still being worked on' },
  precondition_failed: { status: 412, title: 'The record has changed' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  invalid: { status: 422, title: 'The request is not valid' },
  idempotency_mismatch: { status: 422, title: 'The Idempotency-Key was used for another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'A dependency is not available' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

/** One thing that is wrong, and where: `loc` like `["body","region"]` or `["query","limit"]`. */
export type ProblemError = {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** The body of every error answer, `application/problem+json`. */
export type Problem = {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly errors?: readonly ProblemError[]
  readonly degraded?: readonly string[]
  readonly request_id: string
}
