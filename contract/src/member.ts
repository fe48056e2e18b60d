// The members of a team, and those whom it has invited.
import { Type, type Static } from 'typebox'
import { route } from './route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Ordering,
  Page,
  Strict,
} from './scalar.ts'
import { TeamInPath } from './team.ts'
import { Paragraphs } from './text.ts'

const memberStatuses = ['active', 'invited'] as const

export const Member = Strict({
  id: Id,
  user_id: Nullable(Id),
  email: Type.String(),
  display_name: Type.String(),
  is_admin: Type.Boolean(),
  status: OneOf(...memberStatuses),
  invited_by: Nullable(
    Type.String({ description: 'e-mail address of the member who did; null where none of the members did' }),
  ),
  joined: NullableTime,
  last_seen: Nullable(
    Type.String({ format: 'date-time', description: 'when a session last worked in this team' }),
  ),
  two_factor: Type.Boolean({ description: 'whether signing in takes a second factor' }),
})
export type Member = Static<typeof Member>

const memberOrderings = ['email', 'id', 'is_admin', 'status', 'joined', 'last_seen'] as const

const inTeam = Strict({ team_id: TeamInPath })
const oneMember = Strict({ team_id: TeamInPath, member_id: Id })
const reading = { credential: 'any', scope: 'team:read' } as const
const writing = { credential: 'any', scope: 'team:write' } as const

export const listMembersRoute = route({
  name: 'listMembers',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/members',
  summary: 'List team members',
  description:
    'The members of the team, and those whose invitation is open (`status` invited). `email` finds addresses that ' +
    'contain it, in any case.',
  permission: reading,
  params: inTeam,
  query: Strict({
    email: Optional(Type.String({ minLength: 1, maxLength: 254 })),
    status: Optional(OneOf(...memberStatuses)),
    is_admin: Optional(Type.Boolean()),
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
  description: 'One member, or one open invitation.',
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
    'Invites by mail; for admins of the team. The answer is the same whether or not there is an account with the ' +
    'address. The link in the mail is good for 7 days. An address whose invitation is open gets a new mail with a new ' +
    'link, at most one in five minutes, and keeps its id.',
  permission: writing,
  params: inTeam,
  body: Strict({
    email: Type.String({ minLength: 3, maxLength: 254 }),
    is_admin: Optional(Type.Boolean({ description: 'false unless it is said' })),
    message: Optional(Paragraphs({ maxLength: 500, description: 'stands in the mail' })),
  }),
  response: Member,
  success: 201,
  errors: ['forbidden', 'already_member', 'quota_exceeded'],
  conditional: true,
})

export const updateMemberRoute = route({
  name: 'updateMember',
  group: 'Team',
  method: 'PATCH',
  path: '/v3/teams/{team_id}/members/{member_id}',
  summary: 'Update Team member',
  description:
    'Makes a member an admin, or an admin a member; for admins of the team. It holds at once for access tokens in use. ' +
    'Of an admin who becomes a member, API tokens lose the admin role and open invitations are withdrawn. The last ' +
    'admin stays one. Of an open invitation it changes what its holder will be.',
  permission: writing,
  params: oneMember,
  body: Strict({ is_admin: Type.Boolean() }),
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
    'For admins of the team, and for a member about himself. His sessions in the team end, the API tokens that he made ' +
    'for it are revoked and the open invitations that he sent are withdrawn. The last admin stays. Of an open ' +
    'invitation: it is withdrawn and its link is dead.',
  permission: writing,
  params: oneMember,
  success: 204,
  errors: ['forbidden', 'last_admin'],
  conditional: true,
})

export const memberRoutes = [
  listMembersRoute,
  getMemberRoute,
  addMemberRoute,
  updateMemberRoute,
  removeMemberRoute,
]
