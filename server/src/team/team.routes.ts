// The HTTP side of teams and their members: one line per operation.
import {
  addMemberRoute,
  getMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
} from '@pharos/contract/member'
import { getTeamRoute, listTeamsRoute, updateTeamRoute } from '@pharos/contract/team'
import { handle, type Mounted } from '../http/mount.ts'
import { removeMember, updateMember } from './change-member.ts'
import { inviteMember, resendInvitation, type InviteDeps } from './invite-member.ts'
import { getMember, listMembers } from './member.ts'
import { getTeam, listTeams } from './team.ts'
import { updateTeam } from './update-team.ts'

export const teamRoutes = (deps: InviteDeps): Mounted[] => [
  handle(listTeamsRoute, listTeams, deps),
  handle(getTeamRoute, getTeam, deps),
  handle(updateTeamRoute, updateTeam, deps),
  handle(listMembersRoute, listMembers, deps),
  handle(getMemberRoute, getMember, deps),
  handle(addMemberRoute, inviteMember, deps),
  handle(resendInvitationRoute, resendInvitation, deps),
  handle(updateMemberRoute, updateMember, deps),
  handle(removeMemberRoute, removeMember, deps),
]
