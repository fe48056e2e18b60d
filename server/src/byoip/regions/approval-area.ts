// Approvals about routes: withdrawals and changed routes of a region. A decision covers its prefixes, and the result of each change on its
// router; it counts only if it is newer than the last change of the announcement (guard.ts).
import type { ApprovalArea } from '../../approval/area.ts'
import { countTeams, listRouteItems } from './approval-area.store.ts'

export const routeApprovals: ApprovalArea<'routes'> = {
  name: 'routes',
  covers: 'subset',
  approvalMinutes: 15,
  rejectionHours: 24,
  wakes: 'approvals',
  items: listRouteItems,
  teams: countTeams,
}
