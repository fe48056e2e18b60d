// API tokens: what programs present. Made, changed and revoked by admins of the team in the web application: a token
// makes no tokens.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import {
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from './scalar.ts'
import { scopes } from './scope.ts'
import { Line } from './text.ts'

/** Further away is a typing error: never is `null`. */
export const tokenYearsMax = 5
export const unusedDaysMax = 3650

const TokenId = Type.String({
  pattern: '^[a-z2-7]{12}$',
  maxLength: 12,
  description: 'the part of the token between its two `_`: public, it stands in logs and in the audit',
  expects: 'the id of an API token, its 12 characters between the two _',
})

const Name = Line({ minLength: 1, maxLength: 200, pattern: '\\S', expects: 'a name that is not blank' })

const Subnets = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 100,
  description: 'addresses and networks (CIDR) that the token works from; from everywhere when empty',
})

const unusedDays = { minimum: 1, description: 'days without use after which the token ends' } as const

const tokenProperties = {
  id: TokenId,
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  is_admin: Type.Boolean({ description: 'it may do what admins of the team may, within its scopes' }),
  allowed_subnets: Type.Array(Type.String(), { description: 'as CIDR, an address as its /32 or /128' }),
  created: Time,
  created_by: Nullable(Type.Integer({ description: 'id of the user; null where it was the provider' })),
  expires: NullableTime,
  max_unused_days: Nullable(Type.Integer(unusedDays)),
  last_used: Nullable(
    Type.String({ format: 'date-time', description: 'written at most once a minute; null if never' }),
  ),
  last_used_address: Nullable(Type.String({ description: 'where it was used from at `last_used`' })),
  active: Type.Boolean(),
  inactive_reason: Nullable(OneOf('expired', 'unused')),
}

export const Token = Strict(tokenProperties)
export type Token = Static<typeof Token>

export const CreatedToken = Strict({
  ...tokenProperties,
  token: Type.String({ description: 'what the program sends as `Authorization: Token ...`; shown once' }),
})
export type CreatedToken = Static<typeof CreatedToken>

const admin = { credential: 'web', role: 'admin' } as const
const params = Strict({ token_id: TokenId })

const tokenOrderings = ['id', 'name', 'created', 'last_used', 'expires'] as const

export const listTokensRoute = route({
  name: 'listTokens',
  group: 'Token',
  method: 'GET',
  path: '/v3/tokens',
  summary: 'List API tokens',
  description:
    'The tokens of the team that are not revoked, those that have expired or were not used for too long among them. ' +
    'By `last_used` one that was never used is the oldest; by `expires` one that does not expire is the last.',
  permission: admin,
  query: Strict({
    name: Optional(Type.String({ minLength: 1, maxLength: 200, description: 'contained, in any case' })),
    active: Optional(Type.Boolean()),
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
  description: 'One token of the team, never its secret.',
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
    'Makes a token of the team. `token` is shown in this answer and in no other: what is stored of it is a MAC. A repeat ' +
    'with the same `Idempotency-Key` within 24 hours is the same answer again, for the same user; it is kept encrypted. ' +
    'A scope may be of a module that the team does not have yet: its calls are 403 `module_disabled` until it does. ' +
    '`expires` is at most five years away, or null for never.',
  permission: admin,
  body: Strict({
    name: Name,
    scopes: Type.Array(OneOf(...scopes), { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
    is_admin: Optional(Type.Boolean({ default: false })),
    allowed_subnets: Optional(Subnets),
    expires: Optional(NullableTime),
    max_unused_days: Optional(Nullable(Type.Integer({ ...unusedDays, maximum: unusedDaysMax }))),
  }),
  response: CreatedToken,
  success: 201,
  errors: ['quota_exceeded'],
  conditional: true,
})

export const updateTokenRoute = route({
  name: 'updateToken',
  group: 'Token',
  method: 'PATCH',
  path: '/v3/tokens/{token_id}',
  summary: 'Update API token',
  description:
    'Changes the name, the networks or the end of a token. What it may do, `scopes` and `is_admin`, never changes: a ' +
    'program that needs more gets a token of its own. One that has ended cannot be given another end: 409 `conflict`.',
  permission: admin,
  params,
  body: Strict({
    name: Optional(Name),
    allowed_subnets: Optional(Subnets),
    expires: Optional(NullableTime),
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
  description: 'Revokes the token, for good and at once.',
  permission: admin,
  params,
  success: 204,
  errors: ['not_found'],
  conditional: true,
})

export const tokenRoutes = [
  listTokensRoute,
  getTokenRoute,
  createTokenRoute,
  updateTokenRoute,
  deleteTokenRoute,
]
