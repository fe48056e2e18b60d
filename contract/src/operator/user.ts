// The accounts of the installation for staff: who they are, their teams, and how they sign in.
import { Type, type Static } from 'typebox'
import { RoleName } from '../role.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'

const StaffAccount = Component('Account', {
  id: { ...Id, description: 'id of the user' },
  email: Type.String({ description: 'address that the user signs in with' }),
  display_name: Type.String({ description: 'name for people; empty if not set' }),
  is_staff: Type.Boolean({ description: 'whether the user is staff of the provider' }),
  is_demo: Type.Boolean({ description: 'whether the password is published: it works on this machine only' }),
  managed_by: {
    ...Enumeration('AccountManager', ['operator', 'team']),
    description: 'whether the platform file or an invitation created it',
  },
  created: { ...Time, description: 'when the account was created' },
  email_confirmed: { ...NullableTime, description: 'when the address was confirmed; null if it was not' },
  second_factor: { ...NullableTime, description: 'since when signing in needs a code; null if it does not' },
  sessions: Type.Integer({ minimum: 0, description: 'sessions that have not ended' }),
  last_active: { ...NullableTime, description: 'when a session was last used; null without any' },
  teams: Type.Array(
    Component('AccountTeam', {
      id: { ...Id, description: 'id of the team' },
      name: Type.String({ description: 'name of the team' }),
      roles: Type.Array(RoleName, { description: 'roles in the team' }),
    }),
    { description: 'the teams by name' },
  ),
})
export type StaffAccount = Static<typeof StaffAccount>

export const listUsersRoute = route({
  name: 'listUsers',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/users',
  summary: 'List users',
  description:
    'The accounts of all teams and of the provider, with their teams, second factors and sessions.',
  permission: staffReading('operator.see'),
  query: Strict({
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description: 'contained in the address or the name; case-insensitive',
      }),
    ),
    team_id: Optional(Repeatable({ ...Id, description: 'id of a team of the user' })),
    is_staff: Optional(Type.Boolean({ description: 'whether the user is staff of the provider' })),
    has_second_factor: Optional(Type.Boolean({ description: 'whether signing in needs a code' })),
    ordering: Ordering(['id', 'email', 'created', 'last_active'], 'email'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffAccount),
  success: 200,
})

export const adminUserRoutes = [listUsersRoute]
