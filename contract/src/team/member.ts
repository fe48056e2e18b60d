// Members and open invitations of a team.
import { Type, type Static } from 'typebox'
import { RoleNames } from '../role.ts'
import { route } from '../route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Component,
  EmailAddress,
  Enumeration,
} from '../scalar.ts'
import { TeamInPath } from './team.ts'
import { Paragraphs } from '../text.ts'

export const memberStatuses = ['active', 'invited'] as const
export const rolesSources = ['manual', 'provider', 'scim'] as const

export const Member = Component('Member', {
  id: { ...Id, description: 'id of the member, not of the user' },
  user_id: Nullable({ ...Id, description: 'id of the account; null for an invitation' }),
  email: Type.String({ description: 'e-mail address' }),
  display_name: Type.String({ description: 'name of the person; empty for an invitation' }),
  is_admin: Type.Boolean({ description: 'whether the member has the role admin' }),
  roles: RoleNames,
  roles_source: {
    ...Enumeration('RolesSource', rolesSources),
    description:
      'who decides on the roles: `manual`: an admin of the team or the provider of the service; `provider`: the groups at a sign-in with an identity provider; `scim`: the groups that ' +
      'an identity provider sends by SCIM',
  },
  status: {
    ...Enumeration('MemberStatus', memberStatuses),
    description: '`invited`: the invitation is open',
  },
  invited_by: Nullable(
    Type.String({
      description: 'e-mail address of the inviting member; null if the inviter is not a member',
    }),
  ),
  joined: { ...NullableTime, description: 'when the member joined; null for an invitation' },
  last_seen: Nullable(
    Type.String({ format: 'date-time', description: 'last use of a session in this team' }),
  ),
  two_factor: Type.Boolean({ description: 'whether the second factor is enabled' }),
})
export type Member = Static<typeof Member>

const memberOrderings = ['email', 'id', 'is_admin', 'status', 'joined', 'last_seen'] as const

const inTeam = Strict({ team_id: TeamInPath })
const oneMember = Strict({ team_id: TeamInPath, member_id: Id })
const reading = { credential: 'any', scope: 'team:read', grant: 'team.see' } as const
const writing = { credential: 'any', scope: 'team:write', grant: 'team.manage' } as const

export const listMembersRoute = route({
  name: 'listMembers',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/members',
  summary: 'List team members',
  description:
    'The members of the team and its open invitations (`status` `invited`). `email` matches addresses that ' +
    'contain it, case-insensitively.',
  permission: reading,
  params: inTeam,
  query: Strict({
    email: Optional(Type.String({ minLength: 1, maxLength: 254, description: 'e-mail address' })),
    status: Optional({
      ...Enumeration('MemberStatus', memberStatuses),
      description: '`invited`: the invitation is open',
    }),
    is_admin: Optional(Type.Boolean({ description: 'whether the member has the role admin' })),
    ordering: Ordering(memberOrderings, 'email'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Member),
  success: 200,
})

export const getMemberRoute = route({
  name: 'getMember',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/members/{member_id}',
  summary: 'Get team member',
  description: 'Returns one member or open invitation.',
  permission: reading,
  params: oneMember,
  response: Member,
  success: 200,
  conditional: true,
})

export const addMemberRoute = route({
  name: 'addMember',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/members',
  summary: 'Add Team member',
  description:
    'Sends an invitation by mail; for admins of the team. The answer does not reveal whether an account with ' +
    'the address exists. The link is valid for 7 days. If the address has an open invitation, the answer is 200 with ' +
    'this invitation: no mail is sent, and its `roles` stay as they are, whatever the body contains. Send its mail again ' +
    'with `POST .../members/{member_id}/resend`, change its roles with PATCH.',
  permission: writing,
  params: inTeam,
  body: Strict({
    email: EmailAddress,
    roles: Optional(RoleNames),
    is_admin: Optional(
      Type.Boolean({
        description:
          'instead of `roles`: true for `["admin"]`, false for the `default_roles` of the team, the default',
      }),
    ),
    message: Optional(Paragraphs({ maxLength: 500, description: 'included in the mail' })),
  }),
  response: Member,
  success: 201,
  also: { 200: 'the record that exists already' },
  creates: getMemberRoute,
  errors: ['forbidden', 'already_member', 'quota_exceeded'],
  conditional: true,
})

export const resendInvitationRoute = route({
  name: 'resendInvitation',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/members/{member_id}/resend',
  summary: 'Resend invitation',
  description:
    'Sends the mail of an open invitation again, with a new link that is valid for 7 days; for admins of the team. The ' +
    'earlier links stop working; the id and the roles stay. By default at most once in five minutes for one invitation: ' +
    'sooner is 429 with `Retry-After`. A member who has joined is 409 `already_member`.',
  permission: writing,
  params: oneMember,
  response: Member,
  success: 200,
  errors: ['forbidden', 'already_member'],
  conditional: true,
})

export const updateMemberRoute = route({
  name: 'updateMember',
  group: 'Team',
  method: 'PATCH',
  path: '/v3/teams/{team_id}/members/{member_id}',
  summary: 'Update Team member',
  description:
    'Changes the roles of a member; for admins of the team. It applies at once, also to access tokens in use. When ' +
    'a member loses grants, the API tokens that the member created lose `is_admin` and the scopes whose grants are ' +
    'gone, and the open invitations of a former admin are revoked. The last admin cannot be demoted. For an open ' +
    'invitation it changes the roles of the future member. `is_admin` stands for `["admin"]` or, if the member is an ' +
    'admin, the `default_roles` of the team; a value that the member has already changes nothing.',
  permission: writing,
  params: oneMember,
  body: Strict({
    roles: Optional(RoleNames),
    is_admin: Optional(Type.Boolean({ description: 'instead of `roles`' })),
  }),
  response: Member,
  success: 200,
  errors: ['forbidden', 'last_admin'],
  conditional: true,
})

export const removeMemberRoute = route({
  name: 'removeMember',
  group: 'Team',
  method: 'DELETE',
  path: '/v3/teams/{team_id}/members/{member_id}',
  summary: 'Remove Team member',
  description:
    'Removes a member; for admins of the team, and for members who leave. Their sessions in the team end, ' +
    'API tokens that they created for it are revoked, and invitations that they sent are revoked. The last ' +
    'admin cannot be removed. For an open invitation: revokes it and its link. With `dry_run=true` the changes list what ends with the ' +
    'membership, such as the ids of the API tokens in `api_tokens_revoked`: `transferToken` moves one to a service account before.',
  permission: { ...writing, grant: 'team.see' },
  params: oneMember,
  success: 204,
  errors: ['forbidden', 'last_admin'],
  dryRun: true,
  conditional: true,
})

export const memberRoutes = [
  listMembersRoute,
  getMemberRoute,
  addMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
  removeMemberRoute,
]
