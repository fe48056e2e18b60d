// The HTTP side of teams and their members: one line per operation.
import { getCustomerRoute, inviteFirstAdminRoute, listCustomersRoute } from '@pharos/contract/operator/team'
import {
  addMemberRoute,
  getMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
} from '@pharos/contract/team/member'
import { exportTeamAccessRoute, listTeamAccessRoute } from '@pharos/contract/team/access-review'
import { listRolesRoute } from '@pharos/contract/team/role-list'
import { getTeamRoute, listTeamsRoute, updateTeamRoute } from '@pharos/contract/team/team'
import { handle, handleStaff, type Mounted } from '../http/mount.ts'
import { exportTeamAccess, listTeamAccess } from './access-review.ts'
import { removeMember, updateMember } from './change-member.ts'
import { getCustomer, listCustomers, type CustomerDeps } from './customer.ts'
import { inviteFirstAdmin, inviteMember, resendInvitation, type InviteDeps } from './invite-member.ts'
import { getMember, listMembers } from './member.ts'
import { listRoles } from './list-roles.ts'
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
  handle(listTeamAccessRoute, listTeamAccess, deps),
  handle(exportTeamAccessRoute, exportTeamAccess, deps),
  handleStaff(inviteFirstAdminRoute, inviteFirstAdmin, deps),
  handle(listRolesRoute, listRoles, undefined),
]

export const customerRoutes = (deps: CustomerDeps): Mounted[] => [
  handleStaff(listCustomersRoute, listCustomers, deps),
  handleStaff(getCustomerRoute, getCustomer, deps),
]
