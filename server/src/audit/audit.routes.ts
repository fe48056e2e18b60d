// The HTTP side of the audit: one line per operation.
import { getAuditEntry, listAuditEntries } from '@pharos/contract/audit'
import { handle, type Mounted } from '../http/mount.ts'
import { getAudit, listAudit, type AuditDeps } from './audit.ts'

export function auditRoutes(deps: AuditDeps): Mounted[] {
  return [
    handle(listAuditEntries, async (operation, { query }) => {
      const body = await listAudit(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getAuditEntry, (operation, { params }) => getAudit(deps, operation, params.audit_id)),
  ]
}
