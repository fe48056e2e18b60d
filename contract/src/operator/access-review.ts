// The access review of the installation: the provider's staff, the accounts that open a team, and staff tokens. For those who review them.
import { Type, type Static } from 'typebox'
import { RoleName } from '../role.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
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
import { StaffRoleName } from '../staff-role.ts'
import { SignInMethodName } from '../team/access-review.ts'

/** In the order of the list. */
export const reviewedKinds = ['staff', 'account', 'staff_token'] as const

export const ReviewedAccount = Component('ReviewedAccount', {
  kind: {
    ...Enumeration('ReviewedAccountKind', reviewedKinds),
    description:
      '`staff` and `account` are people, the latter members of a team; `staff_token` is a program of the provider',
  },
  id: Type.String({ description: 'id of the user, or of the token' }),
  name: Type.String({ description: 'e-mail address of a person, else the name' }),
  staff_roles: Type.Array(StaffRoleName, { description: 'roles of an employee of the provider' }),
  scopes: Type.Array(Type.String(), { description: 'scopes of a staff token' }),
  teams: Type.Array(
    Component('ReviewedAccountTeam', {
      id: { ...Id, description: 'id of the team' },
      slug: Type.String({ description: 'short name of the team' }),
      name: Type.String({ description: 'name of the team' }),
      roles: Type.Array(RoleName, { description: 'roles in the team' }),
    }),
    { description: 'the teams that a person is a member of' },
  ),
  sign_in: Type.Array(SignInMethodName, {
    description: 'how a person can sign in',
  }),
  two_factor: Nullable(
    Type.Boolean({ description: 'whether a person has a second factor; null for a token' }),
  ),
  managed_by: Nullable(Enumeration('AccountManager', ['operator', 'team'])),
  created: { ...Time, description: 'when it was created' },
  expires: { ...NullableTime, description: 'when a staff token expires; null for a person' },
  last_sign_in: {
    ...NullableTime,
    description:
      'when the newest of the stored sessions began; null without one, and for a token. Sessions are stored until 90 days after their end',
  },
  last_used: {
    ...NullableTime,
    description:
      'last use of a stored session, of an API token that the person created, or of the token; null if none is known',
  },
})
export type ReviewedAccount = Static<typeof ReviewedAccount>

const filters = {
  kind: Optional(Enumeration('ReviewedAccountKind', reviewedKinds)),
  team_id: Optional({ ...Id, description: 'members of this team' }),
  unused_days: Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'those without a known use, or unused since they were created, for so many days',
    }),
  ),
}

export const listAccessRoute = route({
  name: 'listAccess',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/access-review',
  summary: 'Review all access',
  description:
    'Who has rights in the installation now: staff with their roles, members of teams with theirs, and staff tokens; how each signs in, and when it was last used. ' +
    'What opens one team besides its members is in the access review of the team.',
  permission: staffReading('staff.see'),
  query: Strict({
    ...filters,
    ordering: Ordering(['kind', 'name', 'created', 'last_sign_in', 'last_used'], 'kind,name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(ReviewedAccount),
  success: 200,
})

export const reviewFileColumns = [
  'kind',
  'id',
  'name',
  'staff_roles',
  'scopes',
  'teams',
  'sign_in',
  'two_factor',
  'managed_by',
  'created',
  'expires',
  'last_sign_in',
  'last_used',
] as const satisfies readonly (keyof ReviewedAccount)[]

export const exportAccessRoute = route({
  name: 'exportAccess',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/access-review/csv',
  summary: 'Download the review of all access as CSV',
  description:
    `All of \`listAccess\` that matches as CSV (RFC 4180), one line each, with the columns ${reviewFileColumns.map((name) => `\`${name}\``).join(', ')}. ` +
    'A team is written as `slug:role+role`. Values of a list are separated by spaces; a value that is null is empty.',
  permission: staffReading('staff.see'),
  query: Strict(filters),
  success: 200,
  download: ['text/csv'],
})

export const adminAccessRoutes = [listAccessRoute, exportAccessRoute]
