// The closed list of error codes. The HTTP status, the title and the documentation of every problem+json response
// (RFC 9457) come from this table; `help` is what to do next. The messages of each code, which become `detail` and
// `errors`, are in server/src/runtime/messages.ts.

export const problems = {
  malformed: {
    status: 400,
    title: 'The request could not be parsed',
    help: 'Send valid JSON in UTF-8 and a correctly encoded URL. `detail` names the first mistake.',
  },
  invalid_token: {
    status: 400,
    title: 'The token is unknown, expired or used',
    help: 'Request a new mail. A link works once, for a limited time.',
  },
  unauthenticated: {
    status: 401,
    title: 'Authentication required',
    help: 'Send `Authorization: Token <API token>`, or in the web application `Authorization: Bearer <access token>`. An access token expires after five minutes: refresh the session.',
  },
  wrong_scheme: {
    status: 401,
    title: 'The credential was sent with the wrong scheme',
    help: 'Send an API token (`phs_...`) as `Authorization: Token <API token>`. `Bearer` is only for the access token of a session.',
  },
  invalid_credentials: {
    status: 401,
    title: 'Wrong e-mail, password or passkey',
    help: 'Check the e-mail address and the password. The response is the same if no account has the address, and for every passkey that is not accepted.',
  },
  token_not_valid: {
    status: 401,
    title: 'The refresh token is not valid',
    help: 'The session has expired or was signed out, or an old refresh token was used again, which ends the session. Sign in again.',
  },
  otp_required: {
    status: 401,
    title: 'A second factor is required',
    help: 'Sign in again with `otp`, a code of your second factor, or with `passkey` if `ctx.methods` of the error has it.',
  },
  sso_failed: {
    status: 401,
    title: 'Single sign-on failed',
    help: '`ctx.reason` of the error has the reason. Start again from the sign-in page. Admins of the team read failed sign-ins with the id of the request.',
  },
  forbidden: {
    status: 403,
    title: 'Permission denied',
    help: 'Ask an admin of your team, or your provider if `detail` names the provider. `detail` names the roles that would do. An API token has the role admin only if it was created with `is_admin`, and loses it if the member who created it is no longer an admin. Let an admin create a token with the role and with the scope in `detail`.',
  },
  scope_missing: {
    status: 403,
    title: 'The API token does not have the scope',
    help: 'Create an API token with the scope in `detail`.',
  },
  resource_limited: {
    status: 403,
    title: 'The credential is limited to other resources',
    help: 'The API token or TSIG key is limited to the zones, prefixes, ports and services of its `resources`, which `ctx.allowed` lists. Use another credential, or let an admin create one that also has these resources.',
  },
  module_disabled: {
    status: 403,
    title: 'The module is not enabled for the team',
    help: 'Ask your provider to enable the module for your team.',
  },
  wrong_password: {
    status: 403,
    title: 'The current password is wrong',
    help: 'Send the password that you sign in with. If you have forgotten it, request a reset by mail.',
  },
  second_factor_required: {
    status: 403,
    title: 'The team requires a second factor',
    help: 'Set up a second factor (`POST /v3/session/totp`), or switch to another team. Operations on your own account still work.',
  },
  sign_in_required: {
    status: 403,
    title: 'The team requires another sign-in',
    help: 'Sign in with the identity provider of the team: `POST /v3/session/sso` with `ctx.provider` of the error, and the access token of the session. Operations on your own account still work.',
  },
  local_sign_in_required: {
    status: 403,
    title: 'The account requires its own sign-in',
    help: 'Sign in with your password or a passkey: the identity provider of a team does not own the account. An account without a password gets one by `POST /v3/session/password-reset`.',
  },
  reason_required: {
    status: 403,
    title: 'Staff need a reason to enter the team of a customer',
    help: 'Open a staff access: `POST /v3/session/token` with `team_id` and `reason`. It ends after its hours: open another one.',
  },
  email_unconfirmed: {
    status: 403,
    title: 'The e-mail address is not confirmed',
    help: 'Follow the link in the confirmation mail, then sign in.',
  },
  quota_exceeded: {
    status: 403,
    title: 'Quota exceeded',
    help: 'Delete objects that you no longer need, or ask your provider for a higher quota.',
  },
  managed: {
    status: 403,
    title: 'The record set is managed by Pharos',
    help: 'SOA and NS records of the zone itself follow from the settings of the zone, and records of DNSSEC from its keys. Change those instead.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'Check the path and the id. Objects of other teams return the same.',
  },
  no_transceiver: {
    status: 404,
    title: 'The port has no module',
    help: 'Ports without a pluggable module have no light levels. If one is inserted, it is listed within an hour.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'Use one of the methods in the `Allow` header.',
  },
  not_validated: {
    status: 409,
    title: 'The announcement is not validated',
    help: '`errors` lists the checks that have not passed. Disabling is always possible.',
  },
  suspended: {
    status: 409,
    title: 'Suspended by the provider',
    help: 'Contact the provider.',
  },
  prefix_claimed: {
    status: 409,
    title: 'The prefix is held by another customer',
    help: 'Another customer of the provider holds the prefix or one that covers it. If it is yours, contact your provider.',
  },
  still_announced: {
    status: 409,
    title: 'The announcement is not withdrawn',
    help: 'Disable the announcement, wait until `status` is `withdrawn`, then delete it. `errors` lists the regions.',
  },
  already_member: {
    status: 409,
    title: 'Already a member of the team',
    help: 'Change the role of the existing member. To renew an expired invitation, invite again.',
  },
  last_admin: {
    status: 409,
    title: 'The team needs an admin',
    help: 'Make another member an admin of the team first.',
  },
  other_account: {
    status: 409,
    title: 'The identity belongs to another account',
    help: 'The session belongs to one account and the identity to another. Sign out first, or sign in to the identity provider as yourself.',
  },
  domain_claimed: {
    status: 409,
    title: 'The domain is verified for another team',
    help: 'If the domain is yours, contact your provider.',
  },
  zone_claimed: {
    status: 409,
    title: 'Another customer has the zone, or one above or below it',
    help: 'Verify the domain for your team: create the TXT record in `ctx`, wait until the domain is verified, then repeat the request. If the name is yours and this does not help, contact your provider.',
  },
  would_drop: {
    status: 409,
    title: 'The rules would drop normal traffic',
    help: 'Check the rules with `dry_run=true`: `what_if` has what each of them would drop. If that is right, repeat the request with `"force": true`.',
  },
  not_attacked: {
    status: 409,
    title: 'No ongoing event targets the host',
    help: 'A black hole makes the host unreachable for everybody. Check `on_host` of a request with `force` and `dry_run=true`; if the host is to be given up, repeat the request with `"force": true`.',
  },
  exists: {
    status: 409,
    title: 'It exists already',
    help: 'Change the existing record instead of creating it: `errors` names it.',
  },
  delegated: {
    status: 409,
    title: 'The parent zone still delegates to the name servers',
    help: 'Change the name servers at the registrar first and wait for the TTL, or repeat the request with `force=true`.',
  },
  delete_protected: {
    status: 409,
    title: 'The zone is protected from deletion',
    help: 'Set `protect_delete` to false in the settings of the zone first.',
  },
  ds_present: {
    status: 409,
    title: 'The parent zone still has DS records',
    help: 'Delete the DS records at the registrar, or repeat the request with `request_removal=true`. With `force=true` resolvers that validate fail.',
  },
  in_use: {
    status: 409,
    title: 'Other objects depend on it',
    help: '`errors` lists them. Delete them first, or repeat the request with `force=true`.',
  },
  undecided: {
    status: 409,
    title: 'The restore has differences without a decision',
    help: '`detail` counts them. Decide them with `POST /v3/admin/restores/{restore_id}/decide`.',
  },
  conflict: {
    status: 409,
    title: 'Conflict with the current state',
    help: '`detail` names the conflict and how to resolve it.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'The request is still in progress',
    help: 'Wait for `Retry-After` and repeat the request with the same key: it returns the response of the first one.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed',
    help: 'Read the record again and repeat the change with its new `ETag`, which is in `detail` too.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    help: 'Send fewer elements or a smaller file.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send the media type in `detail`, for most operations `Content-Type: application/json`.',
  },
  invalid: {
    status: 422,
    title: 'The request is not valid',
    help: '`errors` lists every mistake of one kind: first the form of the request, and only once that is right its meaning. `loc` is the place, `msg` what is expected, `ctx` the limits or the accepted values.',
  },
  reserved_asn: {
    status: 422,
    title: 'The ASN is reserved',
    help: 'The ASN is for private use or documentation, or reserved by IANA. Use the ASN that a regional registry assigned to you.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    help: 'Use a new Idempotency-Key for each request. To repeat a request, send the same method, path, query and bytes: a body is compared byte for byte. `detail` names the part that differs.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for `Retry-After`. `RateLimit-Remaining` is the number of requests left.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: 'Give the provider the `request_id`. Repeating the request with the same Idempotency-Key is safe.',
  },
  unavailable: {
    status: 503,
    title: 'A dependency is not available',
    help: '`degraded` lists the dependencies that are down. Nothing was changed. Repeat the request after `Retry-After`.',
  },
  restoring: {
    status: 503,
    title: 'The database was restored',
    help: 'Nothing was changed. The provider compares the restored database with the network first; reading works meanwhile. Repeat the request after `Retry-After`.',
  },
  query_too_expensive: {
    status: 503,
    title: 'The query needs too much time or memory',
    help: 'Request a shorter time range, fewer keys to group by, or a coarser resolution, or add filters: `errors` names what to change in a query about flows. Repeating the same request is unlikely to help.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>

export type ProblemCode = keyof typeof problems

/** The path of a code's page in the documentation of the server. */
export const problemPath = (code: ProblemCode): string => `/docs/problems/${code}`

/** One mistake and its place: `loc` like `["body","region"]` or `["query","limit"]`. */
export type ProblemError = {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** The body of every error response, `application/problem+json`. */
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
