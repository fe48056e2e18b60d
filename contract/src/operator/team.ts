// The customers of the provider and the registries that it reads, for staff.
import { Type, type Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import { getMemberRoute, Member } from '../team/member.ts'
import {
  Component,
  EmailAddress,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const Customer = Component('Customer', {
  id: { ...Id, description: 'id of the team' },
  slug: Type.String({ description: 'short name of the team, unique' }),
  name: Type.String({ description: 'name of the team' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2, or empty' }),
  modules: Type.Array(Type.String(), { description: 'the modules that are enabled for the team' }),
  require_2fa: Type.Boolean({ description: 'whether members need a second factor' }),
  created: { ...Time, description: 'when the team was created' },
  members: Count('active members, without invitations'),
  announcements: Count('announcements, without deleted ones'),
  announced: Count('announcements that are on a router'),
  ongoing_attacks: Count('security events of the team that have not ended'),
  pending_letters: Count('letters of authorization that wait for a review'),
  held_routes: Count('withdrawals and changes of its prefixes in open holds'),
  open_requests: Count('entries of the team in the inbox of staff'),
})
export type Customer = Static<typeof Customer>

const customerOrderings = [
  'name',
  'id',
  'created',
  'members',
  'announcements',
  'ongoing_attacks',
  'open_requests',
] as const

export const listCustomersRoute = route({
  name: 'listCustomers',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/teams',
  summary: 'List customers',
  description: 'Every team with what it has and what of it waits for staff.',
  permission: staffReading('customers.see'),
  query: Strict({
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'contained in the name or the slug, case-insensitive',
      }),
    ),
    ordering: Ordering(customerOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Customer),
  success: 200,
})

export const getCustomerRoute = route({
  name: 'getCustomer',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/teams/{team_id}',
  summary: 'Get customer',
  description: 'Returns one team with what it has and what of it waits for staff.',
  permission: staffReading('customers.see'),
  params: Strict({ team_id: Id }),
  response: Customer,
  success: 200,
  conditional: true,
})

export const inviteFirstAdminRoute = route({
  name: 'inviteFirstAdmin',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/teams/{team_id}/invitations',
  summary: 'Invite first admin',
  description:
    'Invites the first member of a customer, with the role admin, by the mail and the link of `addMember`. A team with members invites its ' +
    'members itself: 409. If the address has an open invitation, the answer is 200 with it, and no mail is sent.',
  permission: staffChanging('platform.manage'),
  params: Strict({ team_id: Id }),
  body: Strict({ email: EmailAddress }),
  response: Member,
  success: 201,
  also: { 200: 'the invitation that exists already' },
  creates: getMemberRoute,
  dryRun: true,
  errors: ['conflict', 'quota_exceeded'],
})

export const registryStates = ['up', 'suspicious', 'down', 'unknown'] as const
export type RegistryState = (typeof registryStates)[number]

export const RegistrySource = Component('RegistrySource', {
  kind: {
    ...Enumeration('RegistryKind', ['rpki', 'irr']),
    description: '`rpki`: ROAs, of an RTR cache or a file; `irr`: route objects',
  },
  name: Type.String({ description: 'the source as configured, without credentials' }),
  state: {
    ...Enumeration('RegistryState', registryStates),
    description:
      'the worst that a running process reports: `suspicious`: it lost many objects or a trust anchor at once, or validity of many announcements, and its data are held ' +
      'back; `unknown`: not asked yet, or no process reports it',
  },
  last_answer: {
    ...NullableTime,
    description: 'the last answer that any process got; null if none is known',
  },
  last_error: Nullable(
    Type.String({
      description:
        'why it is not used or not renewed, or about what it disagrees with another source; null if there is no problem',
    }),
  ),
  records: Nullable(Type.Integer({ minimum: 0, description: 'ROA payloads in use; null for route objects' })),
  serial: Nullable(Type.String({ description: 'the version of its data, if it has one' })),
  processes: Count('running processes that read it'),
  reported: { ...NullableTime, description: 'when a process last reported it; null if none does' },
})
export type RegistrySource = Static<typeof RegistrySource>

export const listRegistriesRoute = route({
  name: 'listRegistries',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/registries',
  summary: 'List registry sources',
  description:
    'The sources of ROAs and route objects, as the processes that check announcements report them every 15 seconds. ' +
    'Each process has connections of its own.',
  permission: staffReading('operator.see'),
  response: Component('Registries', {
    sources: Type.Array(RegistrySource, { description: 'in the order of the settings' }),
  }),
  success: 200,
})

export const adminTeamRoutes = [
  listCustomersRoute,
  getCustomerRoute,
  inviteFirstAdminRoute,
  listRegistriesRoute,
]
