// The HTTP side of teams and their members: one line per operation.
import {
  addMemberRoute,
  getMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  updateMemberRoute,
} from '@pharos/contract/member'
import { getTeamRoute, listTeamsRoute, updateTeamRoute } from '@pharos/contract/team'
import { handle, type Mounted } from '../http/mount.ts'
import { removeMember, updateMember } from './change-member.ts'
import { inviteMember, type InviteDeps } from './invite-member.ts'
import { getMember, listMembers } from './member.ts'
import { getTeam, listTeams } from './team.ts'
import { updateTeam } from './update-team.ts'

export function teamRoutes(deps: InviteDeps): Mounted[] {
  return [
    handle(listTeamsRoute, async (operation, { query }) => {
      const body = await listTeams(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getTeamRoute, (operation, { params }) => getTeam(deps, operation, params.team_id)),
    handle(updateTeamRoute, (operation, { params, body }) =>
      updateTeam(deps, operation, params.team_id, body),
    ),
    handle(listMembersRoute, async (operation, { params, query }) => {
      const body = await listMembers(deps, operation, params.team_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getMemberRoute, (operation, { params }) =>
      getMember(deps, operation, params.team_id, params.member_id),
    ),
    handle(addMemberRoute, (operation, { params, body }) =>
      inviteMember(deps, operation, params.team_id, body),
    ),
    handle(updateMemberRoute, (operation, { params, body }) =>
      updateMember(deps, operation, params.team_id, params.member_id, body),
    ),
    handle(removeMemberRoute, async (operation, { params }) => {
      await removeMember(deps, operation, params.team_id, params.member_id)
      return {}
    }),
  ]
}
