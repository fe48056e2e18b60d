// The access review of a team: everything that opens it, with its roles and its last use. Auditors ask for it.
import { Type, type Static } from 'typebox'
import { RoleName } from '../role.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
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
import { ScopeName } from '../scope.ts'
import { TeamInPath } from './team.ts'

/** In the order of the list. */
export const accessKinds = ['member', 'invitation', 'service_account', 'api_token', 'tsig_key'] as const

const signInMethods = ['password', 'passkey', 'provider'] as const

export const SignInMethodName = Enumeration('AccountSignInMethod', signInMethods)

export const ReviewedAccess = Component('ReviewedAccess', {
  kind: { ...Enumeration('ReviewedAccessKind', accessKinds), description: 'what opens the team' },
  id: Type.String({ description: 'id of the member, invitation, service account, API token or TSIG key' }),
  name: Type.String({ description: 'e-mail address of a person, else the name' }),
  roles: Nullable(
    Type.Array(RoleName, {
      description:
        'roles; those of its service account for an API token that has one, else null for an API token or TSIG key',
    }),
  ),
  is_admin: Type.Boolean({ description: 'whether it has the role admin' }),
  scopes: Nullable(Type.Array(ScopeName, { description: 'scopes of an API token, else null' })),
  is_limited: Type.Boolean({ description: 'whether it is limited to resources of the team' }),
  two_factor: Nullable(
    Type.Boolean({ description: 'whether the person has a second factor; null if it is no member' }),
  ),
  sign_in: Nullable(
    Type.Array(SignInMethodName, {
      description:
        'how a member can sign in: with the password or a passkey of the account, or an identity provider of this team; null if it is no member',
    }),
  ),
  created: { ...Time, description: 'when the member joined, or the rest was created' },
  created_by: Nullable(
    Type.String({
      description:
        'actor who created or invited it, such as `user:7` or `operator`; null if that is not known',
    }),
  ),
  expires: { ...NullableTime, description: 'when it expires; null for never' },
  last_used: {
    ...NullableTime,
    description: 'last use in this team; null if never used, and for TSIG keys, whose use is not recorded',
  },
})
export type ReviewedAccess = Static<typeof ReviewedAccess>

const orderings = ['kind', 'name', 'created', 'expires', 'last_used'] as const
const permission = { credential: 'web', grant: 'team.manage' } as const
const params = Strict({ team_id: TeamInPath })
const filters = {
  kind: Optional(Enumeration('ReviewedAccessKind', accessKinds)),
  unused_days: Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        'those without a use, or unused since they were created, for so many days; without TSIG keys',
    }),
  ),
}

export const listTeamAccessRoute = route({
  name: 'listTeamAccess',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/access-review',
  summary: 'Review access',
  description:
    'Everything that opens the team now: members, open invitations, service accounts, API tokens that are not revoked, and TSIG keys, ' +
    'each with its roles, its creation and its last use. For admins of the team.',
  permission,
  params,
  query: Strict({ ...filters, ordering: Ordering(orderings, 'kind,name'), limit: Limit, offset: Offset }),
  response: Page(ReviewedAccess),
  success: 200,
})

export const accessFileColumns = [
  'kind',
  'id',
  'name',
  'roles',
  'is_admin',
  'scopes',
  'is_limited',
  'two_factor',
  'sign_in',
  'created',
  'created_by',
  'expires',
  'last_used',
] as const satisfies readonly (keyof ReviewedAccess)[]

export const exportTeamAccessRoute = route({
  name: 'exportTeamAccess',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/access-review/csv',
  summary: 'Download access review as CSV',
  description:
    `All of \`listTeamAccess\` that matches as CSV (RFC 4180), one line each, with the columns ${accessFileColumns.map((name) => `\`${name}\``).join(', ')}. ` +
    'Roles and scopes are separated by spaces; a value that is null is empty.',
  permission,
  params,
  query: Strict(filters),
  success: 200,
  download: ['text/csv'],
})

export const accessReviewRoutes = [listTeamAccessRoute, exportTeamAccessRoute]
