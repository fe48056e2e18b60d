// The closed list of error codes. A code is added here or nowhere: the HTTP status, the title and the
// documentation of every problem+json answer (RFC 9457) come from this table; `help` says what to do next.
// What a particular answer says beyond that (detail, errors) is set where the error is thrown.

export const problems = {
  malformed: {
    status: 400,
    title: 'The request cannot be read',
    help: 'Send valid JSON in UTF-8 and a correctly encoded URL; `detail` says where reading stopped.',
  },
  invalid_token: {
    status: 400,
    title: 'The token is unknown, expired or used',
    help: 'Ask for a new mail; a link works once and for a limited time.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid credential',
    help: 'Send `Authorization: Token <API token>`, or in the web application `Authorization: Bearer <access token>`. An access token lasts five minutes: refresh the session.',
  },
  invalid_credentials: {
    status: 401,
    title: 'Wrong e-mail or password',
    help: 'Check the e-mail address and the password. The answer is the same when there is no such account.',
  },
  token_not_valid: {
    status: 401,
    title: 'The refresh token is not valid',
    help: 'The session has ended: it expired, was signed out, or an old refresh token was presented again, which ends it for safety. Sign in again.',
  },
  otp_required: {
    status: 401,
    title: 'A second factor is required',
    help: 'Repeat the sign-in with `otp`, the code of your second factor.',
  },
  forbidden: {
    status: 403,
    title: 'The role does not allow this',
    help: 'Ask an admin of your team, or the provider where `detail` says so.',
  },
  scope_missing: {
    status: 403,
    title: 'The API token lacks the scope',
    help: 'Create an API token with the scope that `detail` names.',
  },
  module_disabled: {
    status: 403,
    title: 'The module is not enabled for the team',
    help: 'Ask your provider to enable the module for your team.',
  },
  wrong_password: {
    status: 403,
    title: 'The current password is wrong',
    help: 'Repeat the change with the password you sign in with. Whoever has forgotten it asks for a reset by mail.',
  },
  second_factor_required: {
    status: 403,
    title: 'The team requires a second factor',
    help: 'Set up a second factor (`POST /v3/session/totp`), or switch to another team; your own account stays open to you.',
  },
  email_unconfirmed: {
    status: 403,
    title: 'The e-mail address is not confirmed',
    help: 'Follow the link in the confirmation mail, then sign in.',
  },
  quota_exceeded: {
    status: 403,
    title: 'The quota is used up',
    help: 'Delete what you no longer need, or ask your provider for more.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'Check the path and the id. Objects of other teams are not found either.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'Use one of the methods in the `Allow` header.',
  },
  not_validated: {
    status: 409,
    title: 'The announcement is not validated',
    help: '`errors` names the checks that have not passed. Disabling is always possible.',
  },
  suspended: {
    status: 409,
    title: 'Suspended by the operator',
    help: 'The provider has suspended it; contact them.',
  },
  prefix_claimed: {
    status: 409,
    title: 'The prefix belongs to somebody else here',
    help: 'Another customer of the provider holds the prefix or one that covers it. If it is yours, ask your provider.',
  },
  still_announced: {
    status: 409,
    title: 'It is still announced',
    help: 'Disable the announcement, wait until `status` says withdrawn, then delete it; `errors` names the regions.',
  },
  already_member: {
    status: 409,
    title: 'Already a member of the team',
    help: 'Change the member that there is; an invitation that has run out is sent again by inviting anew.',
  },
  last_admin: {
    status: 409,
    title: 'The team would be left without an admin',
    help: 'Make somebody else an admin of the team first.',
  },
  domain_claimed: {
    status: 409,
    title: 'Another team has proved the domain',
    help: 'If the domain is yours, ask your provider.',
  },
  conflict: {
    status: 409,
    title: 'The state does not allow this',
    help: '`detail` says which state is in the way.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'The same request is still being worked on',
    help: 'Wait as long as `Retry-After` says and repeat with the same key: you will get the answer of the first request.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed',
    help: 'Read the record again and repeat the change with its new `ETag`.',
  },
  body_too_large: { status: 413, title: 'The body is too large', help: 'Send less at once.' },
  unsupported_media_type: {
    status: 415,
    title: 'The media type is not supported',
    help: 'Send the media type that `detail` names: nearly everywhere `Content-Type: application/json`.',
  },
  invalid: {
    status: 422,
    title: 'The request is not valid',
    help: '`errors` lists everything that is wrong: `loc` is the place, `msg` what is expected, `ctx` what would be accepted.',
  },
  reserved_asn: {
    status: 422,
    title: 'The ASN belongs to no network',
    help: 'It is set aside: private use, documentation or reserved by IANA. Use the ASN that a regional registry assigned to you.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    help: 'An Idempotency-Key belongs to one request; take a new one for another.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait as long as `Retry-After` says. `RateLimit-Remaining` tells how much is left.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: 'This is our mistake. Give the provider the `request_id`; repeating with the same Idempotency-Key is safe.',
  },
  unavailable: {
    status: 503,
    title: 'A dependency is not available',
    help: '`degraded` names the part that is down. Wait as long as `Retry-After` says; nothing was changed.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>

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
