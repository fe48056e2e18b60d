// The schema and the examples of error answers in the OpenAPI document.
import { Type } from 'typebox'
import { problemPath, problems, type Problem, type ProblemCode } from '../problem.ts'
import { Component, Enumeration } from '../scalar.ts'

const ProblemErrorSchema = Component('ProblemError', {
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description:
      'place of the mistake: `body`, `query`, `path` or `header`, then names and positions, such as ' +
      '`["body","announcements",3,"cidr"]`; for `still_announced` the part of the record, `["regions","ams"]`',
  }),
  msg: Type.String({ description: 'what is expected' }),
  type: Type.String({ description: 'kind of the mistake' }),
  ctx: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'limits and accepted values' }),
  ),
})

/** The body of every error answer, `application/problem+json`. */
export const ProblemSchema = Component('Problem', {
  type: Type.String({ description: 'URL of the page about `code`' }),
  title: Type.String({ description: 'the code as text, the same for every occurrence' }),
  status: Type.Integer({ description: 'HTTP status', minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'this occurrence: what is wrong, and what to do' }),
  code: Enumeration('ProblemCode', Object.keys(problems) as [ProblemCode, ...ProblemCode[]]),
  errors: Type.Optional(
    Type.Array(ProblemErrorSchema, {
      description: 'every mistake of the same kind: first the form of the request, then its meaning',
    }),
  ),
  degraded: Type.Optional(Type.Array(Type.String(), { description: 'the dependencies that are down' })),
  request_id: Type.String({ description: 'the value of `X-Request-Id`' }),
})

/** Returns an error answer with the code, for the documentation. A test compares its texts with the server's. */
export function problemExample(code: ProblemCode): Problem {
  const { status, title } = problems[code]
  return {
    type: `https://portal.example.net${problemPath(code)}`,
    title,
    status,
    ...occurrences[code],
    code,
    ...(code === 'unavailable' ? { degraded: ['postgresql'] } : {}),
    request_id: '5f0f6c1e-93a5-4d0c-8f4e-0a9c1d7b2e34',
  }
}

type Occurrence = Pick<Problem, 'detail' | 'errors'>

const occurrences: Readonly<Record<ProblemCode, Occurrence>> = {
  malformed: { detail: 'The body is empty. Send a JSON object.' },
  invalid_token: { detail: 'The link is unknown, expired or used. Request a new mail.' },
  unauthenticated: { detail: 'The API token is not valid. Check that it is complete and was not revoked.' },
  wrong_scheme: {
    detail:
      'This is an API token: send it as `Authorization: Token <API token>`. `Bearer` is only for the access token of the web application.',
  },
  invalid_credentials: { detail: 'The e-mail address or the password is wrong.' },
  token_not_valid: { detail: 'The refresh token is not valid. Sign in again.' },
  otp_required: { detail: 'Sign in again with `otp`, a code of your second factor, or with `passkey`.' },
  sso_failed: {
    detail: 'You have no role in the team. Ask an admin of your team to assign you.',
    errors: [
      {
        loc: ['body', 'state'],
        msg: 'is of a sign-in that failed: not_assigned',
        type: 'sso_failed',
        ctx: { reason: 'not_assigned' },
      },
    ],
  },
  forbidden: {
    detail:
      'This API token has no admin role: it was created without it, or the member who created it is no longer an admin. ' +
      'Let an admin create one with it, and with the scope ipam:write.',
  },
  scope_missing: { detail: 'The API token needs the scope ipam:write. Create a token with it.' },
  resource_limited: {
    detail:
      'body.name: is outside of the resources of this credential: zone example.com (_acme-challenge; TXT).',
    errors: [
      {
        loc: ['body', 'name'],
        msg: 'is outside of the resources of this credential: zone example.com (_acme-challenge; TXT)',
        type: 'resource_limited',
        ctx: { allowed: ['zone example.com (_acme-challenge; TXT)'] },
      },
    ],
  },
  module_disabled: { detail: 'The module ipam is not enabled for the team. Ask your provider to enable it.' },
  wrong_password: { detail: 'The current password is wrong.' },
  second_factor_required: {
    detail:
      'The team requires a second factor. Set one up (`POST /v3/session/totp`), or switch to another team.',
  },
  sign_in_required: {
    detail: 'This session does not open the team. Sign in with the identity provider of the team.',
    errors: [
      {
        loc: ['header', 'Authorization'],
        msg: 'must be of a session that the identity provider of the team has opened',
        type: 'sign_in_required',
        ctx: { provider: 'k3j5mq2xw7ab' },
      },
    ],
  },
  local_sign_in_required: {
    detail:
      'The identity provider of a team opened this session, and the team does not own your account. Sign in with your password or a passkey.',
  },
  reason_required: {
    detail:
      'You are not a member of this team. Enter it with a reason (`POST /v3/session/token`), which the team reads.',
  },
  email_unconfirmed: {
    detail: 'The e-mail address is not confirmed. Follow the link in the confirmation mail, then sign in.',
  },
  quota_exceeded: {
    detail: 'The team may have at most 5 webhooks. Delete one, or ask your provider for more.',
  },
  not_found: { detail: 'There is no such announcement.' },
  no_transceiver: { detail: 'No module was found in the interface of the port.' },
  method_not_allowed: { detail: 'Use one of these methods: GET, HEAD, POST.' },
  not_validated: {
    detail: 'The announcement cannot be enabled until it is validated. Missing: loa.',
    errors: [
      {
        loc: ['body', 'enabled'],
        msg: 'no letter of authorization has been accepted',
        type: 'not_validated',
        ctx: { missing: 'loa', state: 'missing', fix: 'Upload a signed letter of authorization.' },
      },
    ],
  },
  suspended: { detail: 'The provider has suspended this announcement. Contact the provider.' },
  prefix_claimed: {
    detail:
      'Another customer of the provider holds 203.0.113.0/24 or a prefix that covers it. If it is yours, contact your provider.',
  },
  still_announced: {
    detail: 'The announcement is not withdrawn yet in ams. Wait until it is, then delete it.',
    errors: [
      {
        loc: ['regions', 'ams'],
        msg: 'is withdrawing there',
        type: 'still_announced',
        ctx: { region: 'ams', state: 'withdrawing' },
      },
    ],
  },
  already_member: {
    detail: 'ann@example.net is already a member of the team. Change the role of the member instead.',
  },
  last_admin: { detail: 'The team would have no admin. Make another member an admin first.' },
  other_account: {
    detail: 'The identity belongs to another account than the session. Sign out first.',
  },
  domain_claimed: {
    detail: 'Another team has verified acme.net. If the domain is yours, contact your provider.',
  },
  zone_claimed: {
    detail:
      'Another customer of the provider has example.com, or a zone above or below it. If the name is yours, add the domain to your team and create the TXT record at _pharos-challenge.example.com; then repeat the request.',
    errors: [
      {
        loc: ['body', 'name'],
        msg: 'is held by another customer of the provider',
        type: 'zone_claimed',
        ctx: {
          record_name: '_pharos-challenge.example.com',
          record_type: 'TXT',
          record_value: 'pharos-domain-verification=Zm9yIHRoZSBkb2N1bWVudGF0aW9u',
        },
      },
    ],
  },
  would_drop: {
    detail:
      'The rules would have dropped 12.4 % of the flows (connections) of normal traffic of the last hour towards 203.0.113.0/24; the provider allows 5 %. Check them with dry_run=true. If they are right, repeat the request with `force`.',
  },
  not_attacked: {
    detail:
      'No ongoing event targets 203.0.113.77. A black hole makes it unreachable for everybody: send `force` with dry_run=true to see what is on it, then without dry_run.',
  },
  exists: {
    detail: 'The team has the zone example.com already. Change it, or import with merge or replace.',
  },
  delegated: {
    detail:
      'The parent of example.com still delegates to ns1.example.net.: resolvers would fail. Change the name servers at the registrar first, or repeat the request with force=true.',
  },
  delete_protected: {
    detail: 'example.com is protected from deletion. Set protect_delete to false in its settings first.',
  },
  ds_present: {
    detail:
      'The parent of example.com still has DS records. Delete them at the registrar first, or repeat the request with request_removal=true.',
  },
  in_use: {
    detail:
      'The announcement is needed by 1 zone of reverse DNS: 113.0.203.in-addr.arpa. Delete them first, or repeat the request with force=true.',
  },
  managed: {
    detail: 'The SOA record is managed. Change its times and its mailbox in the settings of the zone.',
  },
  undecided: { detail: '3 differences without a decision.' },
  conflict: { detail: 'The webhook is disabled. Enable it first.' },
  idempotency_in_flight: {
    detail: 'A request with this Idempotency-Key is still in progress. Repeat it after `Retry-After`.',
  },
  precondition_failed: {
    detail:
      'The record has changed: its ETag is now "8". Read it again, then repeat the change with the new ETag.',
  },
  body_too_large: {
    detail: 'The body is larger than this operation accepts: at most 1048576 bytes (1 MiB).',
    errors: [
      {
        loc: ['body'],
        msg: 'must have at most 1048576 bytes (1 MiB)',
        type: 'too_large',
        ctx: { bytes_max: 1048576 },
      },
    ],
  },
  unsupported_media_type: {
    detail: 'Send the body as application/json; the Content-Type is "application/x-www-form-urlencoded".',
  },
  invalid: {
    detail: 'body.region: must be one of ams, fra, nyc (did you mean ams?).',
    errors: [
      {
        loc: ['body', 'region'],
        msg: 'must be one of ams, fra, nyc (did you mean ams?)',
        type: 'unknown',
        ctx: { valid: ['ams', 'fra', 'nyc'], suggestion: 'ams' },
      },
    ],
  },
  reserved_asn: {
    detail: 'AS64512 is reserved: private use. Use the ASN that a regional registry assigned to you.',
  },
  idempotency_mismatch: {
    detail: 'The Idempotency-Key was used for another request: the body differs. Use a new key.',
  },
  rate_limited: { detail: 'Too many requests. Try again in 3 s.' },
  internal: { detail: 'An internal error occurred. Give the provider the request id.' },
  unavailable: { detail: 'The database is not available. Try again later.' },
  restoring: {
    detail:
      'The database was restored, and nothing can be changed until the provider has compared it with the network. Try again later.',
  },
  query_too_expensive: {
    detail:
      'The query needs more time or memory than one query may use. Request a shorter time range, fewer keys or a coarser resolution.',
  },
}
