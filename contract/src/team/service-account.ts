// Service accounts: programs of a team. Their API tokens have the roles of the account and outlive the member who created them.
import { Type, type Static } from 'typebox'
import { RoleNames } from '../role.ts'
import { route } from '../route.ts'
import { Actor, Component, Id, Limit, Offset, Optional, Ordering, Page, Strict, Time } from '../scalar.ts'
import { Line, Paragraphs } from '../text.ts'

const fields = {
  name: {
    ...Line({ minLength: 1, maxLength: 100, pattern: '\\S', expects: 'a name that is not blank' }),
    description: 'name for people, unique in the team',
  },
  description: { ...Paragraphs({ maxLength: 500 }), description: 'what the program is for' },
  roles: RoleNames,
  disabled: Type.Boolean({ description: 'whether its API tokens are refused' }),
} as const

export const ServiceAccount = Component('ServiceAccount', {
  id: { ...Id, description: 'id of the service account' },
  ...fields,
  token_count: Type.Integer({ minimum: 0, description: 'its API tokens, without revoked ones' }),
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
})
export type ServiceAccount = Static<typeof ServiceAccount>

const permission = { credential: 'web', grant: 'tokens.manage' } as const
const params = Strict({ service_account_id: Id })
const orderings = ['name', 'id', 'created'] as const

export const listServiceAccountsRoute = route({
  name: 'listServiceAccounts',
  group: 'Token',
  method: 'GET',
  path: '/v3/service-accounts',
  summary: 'List service accounts',
  description: 'The service accounts of the team, including disabled ones.',
  permission,
  query: Strict({ ordering: Ordering(orderings, 'name'), limit: Limit, offset: Offset }),
  response: Page(ServiceAccount),
  success: 200,
})

export const getServiceAccountRoute = route({
  name: 'getServiceAccount',
  group: 'Token',
  method: 'GET',
  path: '/v3/service-accounts/{service_account_id}',
  summary: 'Get service account',
  description:
    'Returns one service account of the team. Its tokens are those of `GET /v3/tokens` with `service_account_id`.',
  permission,
  params,
  response: ServiceAccount,
  success: 200,
  conditional: true,
})

export const createServiceAccountRoute = route({
  name: 'createServiceAccount',
  group: 'Token',
  method: 'POST',
  path: '/v3/service-accounts',
  summary: 'Create service account',
  description:
    'Creates an account for a program. It signs in nowhere: `POST /v3/tokens` with `service_account_id` creates its credentials.',
  permission,
  body: Strict({
    name: fields.name,
    description: Optional(fields.description),
    roles: fields.roles,
    disabled: Optional(fields.disabled),
  }),
  response: ServiceAccount,
  success: 201,
  creates: getServiceAccountRoute,
  errors: ['exists', 'quota_exceeded'],
  conditional: true,
})

export const updateServiceAccountRoute = route({
  name: 'updateServiceAccount',
  group: 'Token',
  method: 'PATCH',
  path: '/v3/service-accounts/{service_account_id}',
  summary: 'Update service account',
  description: 'Changes the given fields. Roles and `disabled` apply to its API tokens at once.',
  permission,
  params,
  body: Strict({
    name: Optional(fields.name),
    description: Optional(fields.description),
    roles: Optional(fields.roles),
    disabled: Optional(fields.disabled),
  }),
  response: ServiceAccount,
  success: 200,
  errors: ['exists'],
  conditional: true,
})

export const deleteServiceAccountRoute = route({
  name: 'deleteServiceAccount',
  group: 'Token',
  method: 'DELETE',
  path: '/v3/service-accounts/{service_account_id}',
  summary: 'Delete service account',
  description: 'Deletes the account and revokes its API tokens, permanently and at once.',
  permission,
  params,
  success: 204,
  conditional: true,
})

export const serviceAccountRoutes = [
  listServiceAccountsRoute,
  getServiceAccountRoute,
  createServiceAccountRoute,
  updateServiceAccountRoute,
  deleteServiceAccountRoute,
]
