// HTTP routes of the audit log: one line per operation.
import { getAuditEntryRoute, listAuditEntriesRoute } from '@pharos/contract/team/audit'
import { handle, type Mounted } from '../http/mount.ts'
import { getAudit, listAudit, type AuditDeps } from './audit.ts'

export const auditRoutes = (deps: AuditDeps): Mounted[] => [
  handle(listAuditEntriesRoute, listAudit, deps),
  handle(getAuditEntryRoute, getAudit, deps),
]
