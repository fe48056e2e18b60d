// The accesses of staff to the teams of customers, for those who review them.
import { Type, type Static } from 'typebox'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  TeamReference,
} from '../scalar.ts'
import { StaffAccess } from '../staff-role.ts'

export const ReviewedStaffAccess = Component('ReviewedStaffAccess', {
  ...StaffAccess.properties,
  team: TeamReference,
  user_id: Nullable({ ...Id, description: 'id of the employee; null if the account was deleted' }),
  user_email: Nullable(Type.String({ description: 'e-mail address of the employee' })),
})
export type ReviewedStaffAccess = Static<typeof ReviewedStaffAccess>

export const listStaffAccessesRoute = route({
  name: 'listStaffAccesses',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/staff-accesses',
  summary: 'List staff accesses',
  description:
    'Who of the staff entered which team, why and how long, the newest first by default. The entries of the audit log during an ' +
    'access have the credential `staff_access:<id>`.',
  permission: staffReading('staff.see'),
  query: Strict({
    team_id: Optional({ ...Id, description: 'only of this team' }),
    user_id: Optional({ ...Id, description: 'only of this employee' }),
    open: Optional(Type.Boolean({ description: 'only open ones, or only ended ones' })),
    ordering: Ordering(['opened', 'id'], '-opened'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(ReviewedStaffAccess),
  success: 200,
})

export const staffAccessRoutes = [listStaffAccessesRoute]
