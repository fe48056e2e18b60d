// HTTP routes of the audit log: one line per operation.
import {
  getAuditEntryRoute,
  listAuditEntriesRoute,
  listStaffAuditEntriesRoute,
} from '@pharos/contract/team/audit'
import { handle, handleStaff, type Mounted } from '../http/mount.ts'
import { getAudit, listAudit, listStaffAudit, type AuditDeps, type StaffAuditDeps } from './audit.ts'

export const auditRoutes = (deps: AuditDeps & StaffAuditDeps): Mounted[] => [
  handle(listAuditEntriesRoute, listAudit, deps),
  handle(getAuditEntryRoute, getAudit, deps),
  handleStaff(listStaffAuditEntriesRoute, listStaffAudit, deps),
]
