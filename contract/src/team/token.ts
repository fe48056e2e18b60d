// API tokens: credentials for programs. Admins create, change and revoke them in the web application; a token cannot create
// tokens.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from '../route.ts'
import {
  Actor,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
  Component,
  Enumeration,
  Id,
} from '../scalar.ts'
import { Resources } from '../resource-limit.ts'
import { ScopeName, scopes } from '../scope.ts'
import { Line } from '../text.ts'

/** Maximum lifetime. A later expiry is a typing error; no expiry is `null`. */
export const tokenYearsMax = 5
export const unusedDaysMax = 3650
/** Lifetime of a token that is created without `expires`. */
export const tokenDaysByDefault = 365
/** How long the former secret works after a rotation. */
export const overlapHoursByDefault = 24
const overlapHoursMax = 72
export const OverlapHours = Type.Integer({
  minimum: 0,
  maximum: overlapHoursMax,
  default: overlapHoursByDefault,
})

const TokenId = Type.String({
  pattern: '^[a-z2-7]{12}$',
  maxLength: 12,
  description: 'public part of the token, between its two `_`; used in logs and in the audit log',
  expects: 'the id of an API token, its 12 characters between the two _',
})

const Name = Line({ minLength: 1, maxLength: 200, pattern: '\\S', expects: 'a name that is not blank' })

export const Subnets = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 100,
  description: 'addresses and networks (CIDR) from which the token may be used; empty: from everywhere',
})

const unusedDays = { minimum: 1, description: 'days without use after which the token expires' } as const

const tokenProperties = {
  id: TokenId,
  name: Type.String({ description: 'name for people' }),
  scopes: Type.Array(ScopeName, { description: 'the operations that the token may call' }),
  is_admin: Type.Boolean({ description: 'whether it has the admin role, within its scopes' }),
  allowed_subnets: Type.Array(Type.String(), { description: 'as CIDR, an address as its /32 or /128' }),
  resources: Nullable(Resources),
  service_account_id: Nullable({
    ...Id,
    description: 'the service account that has the token, with its roles; null for a token of the team',
  }),
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
  expires: { ...NullableTime, description: 'when it expires; null for never' },
  max_unused_days: Nullable(Type.Integer(unusedDays)),
  last_used: Nullable(
    Type.String({ format: 'date-time', description: 'updated at most once a minute; null if never used' }),
  ),
  last_used_address: Nullable(Type.String({ description: 'IP address of the use at `last_used`' })),
  active: Type.Boolean({ description: 'whether it can be used now' }),
  inactive_reason: Nullable({
    ...Enumeration('ApiTokenInactiveReason', ['expired', 'unused', 'disabled', 'no_resources']),
    description:
      'why it cannot be used; null if it can. `disabled`: its service account is; `no_resources`: the last of its resources is gone',
  }),
  previous_secret_until: {
    ...NullableTime,
    description: 'until when the secret before the last rotation works; null if only the newest one works',
  },
}

export const Token = Component('ApiToken', tokenProperties)
export type Token = Static<typeof Token>

export const CreatedToken = Component('CreatedApiToken', {
  ...tokenProperties,
  token: Type.String({ description: 'the credential for `Authorization: Token ...`; shown once' }),
})
export type CreatedToken = Static<typeof CreatedToken>

const admin = { credential: 'web', grant: 'tokens.manage' } as const
const params = Strict({ token_id: TokenId })

const tokenOrderings = ['id', 'name', 'created', 'last_used', 'expires'] as const

export const listTokensRoute = route({
  name: 'listTokens',
  group: 'Token',
  method: 'GET',
  path: '/v3/tokens',
  summary: 'List API tokens',
  description:
    'The tokens of the team, including expired and unused ones, without revoked ones. Ordered by ' +
    '`last_used`, a token that was never used comes first; ordered by `expires`, a token without expiry ' +
    'comes last.',
  permission: admin,
  query: Strict({
    name: Optional(Type.String({ minLength: 1, maxLength: 200, description: 'contained, case-insensitive' })),
    active: Optional(Type.Boolean({ description: 'whether it can be used now' })),
    service_account_id: Optional({ ...Id, description: 'those of a service account' }),
    created_by: Optional({
      ...Id,
      description: 'id of the user who created it; without tokens of service accounts',
    }),
    ordering: Ordering(tokenOrderings, '-created'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Token),
  success: 200,
})

export const getTokenRoute = route({
  name: 'getToken',
  group: 'Token',
  method: 'GET',
  path: '/v3/tokens/{token_id}',
  summary: 'Get API token',
  description: 'Returns one token of the team, without its secret.',
  permission: admin,
  params,
  response: Token,
  success: 200,
  errors: ['not_found'],
  conditional: true,
})

export const createTokenRoute = route({
  name: 'createToken',
  group: 'Token',
  method: 'POST',
  path: '/v3/tokens',
  summary: 'Create API token',
  description:
    'Creates a token of the team. `token` is shown only in this answer; only a MAC of it is stored. A repeat ' +
    'with the same `Idempotency-Key` within 24 hours by the same user returns the same answer, which is kept ' +
    'encrypted. Scopes of modules that the team does not have are accepted: such calls return 403 ' +
    '`module_disabled` until the module is enabled. `expires` is at most five years ahead, or null for no ' +
    'expiry; left out it is in 365 days, and no later than `token_days_max` of the team allows. With `resources` the token is ' +
    'limited to them: it sees and changes nothing else, and operations that are about no resource are closed to it. A resource that ' +
    'the team does not have is 404.',
  permission: admin,
  body: Strict({
    name: { ...Name, description: 'name for people' },
    scopes: Type.Array(ScopeName, {
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
    }),
    is_admin: Optional(Type.Boolean({ default: false })),
    resources: Optional(Resources),
    service_account_id: Optional({
      ...Id,
      description:
        'the service account whose token it is: it has the roles of the account, and no `is_admin`',
    }),
    allowed_subnets: Optional(Subnets),
    expires: Optional({ ...NullableTime, description: 'when it expires; null for never' }),
    max_unused_days: Optional(Nullable(Type.Integer({ ...unusedDays, maximum: unusedDaysMax }))),
  }),
  response: CreatedToken,
  success: 201,
  creates: getTokenRoute,
  secret: true,
  errors: ['not_found', 'quota_exceeded'],
  conditional: true,
})

export const updateTokenRoute = route({
  name: 'updateToken',
  group: 'Token',
  method: 'PATCH',
  path: '/v3/tokens/{token_id}',
  summary: 'Update API token',
  description:
    'Changes the name, or narrows a token: `expires` can become earlier, and `allowed_subnets` can lose networks or parts of them. ' +
    'Anything that would allow more is 422 `widens`, and `scopes`, `is_admin` and `resources` never change: create ' +
    'another token instead. The expiry of an expired token cannot be changed: 409 `conflict`.',
  permission: admin,
  params,
  body: Strict({
    name: Optional({ ...Name, description: 'name for people' }),
    allowed_subnets: Optional(Subnets),
    expires: Optional({ ...NullableTime, description: 'when it expires; null for never' }),
  }),
  response: Token,
  success: 200,
  errors: ['not_found', 'conflict'],
  conditional: true,
})

export const deleteTokenRoute = route({
  name: 'deleteToken',
  group: 'Token',
  method: 'DELETE',
  path: '/v3/tokens/{token_id}',
  summary: 'Delete API token',
  description: 'Revokes the token permanently and at once.',
  permission: admin,
  params,
  success: 204,
  errors: ['not_found'],
  conditional: true,
})

export const rotateTokenRoute = route({
  name: 'rotateToken',
  group: 'Token',
  method: 'POST',
  path: '/v3/tokens/{token_id}/rotate',
  summary: 'Rotate API token',
  description:
    'Gives the token a new secret; id, scopes, limits and expiry stay. The former secret works for `overlap_hours` more, so that ' +
    'programs can be changed one by one; 0 ends it at once. A rotation during the overlap ends the secret before the former one. ' +
    '`token` is shown only in this answer.',
  permission: admin,
  params,
  body: Strict({
    overlap_hours: Optional(OverlapHours),
  }),
  bodyOptional: true,
  response: CreatedToken,
  success: 200,
  secret: true,
  errors: ['not_found', 'conflict'],
  conditional: true,
  ifMatch: true,
})

export const transferTokenRoute = route({
  name: 'transferToken',
  group: 'Token',
  method: 'POST',
  path: '/v3/tokens/{token_id}/transfer',
  summary: 'Transfer API token',
  description:
    'Moves a token of a member to a service account, so that it outlives the member. It then has the roles of the account; if these ' +
    'grant more than the token has, the answer is 422 `widens`.',
  permission: admin,
  params,
  body: Strict({ service_account_id: { ...Id, description: 'the service account that gets the token' } }),
  response: Token,
  success: 200,
  errors: ['not_found', 'conflict'],
  conditional: true,
  ifMatch: true,
})

export const tokenRoutes = [
  listTokensRoute,
  getTokenRoute,
  createTokenRoute,
  updateTokenRoute,
  deleteTokenRoute,
  rotateTokenRoute,
  transferTokenRoute,
]
