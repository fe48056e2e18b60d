// The HTTP side of the audit: one line per operation.
import { getAuditEntryRoute, listAuditEntriesRoute } from '@pharos/contract/audit'
import { handle, type Mounted } from '../http/mount.ts'
import { getAudit, listAudit, type AuditDeps } from './audit.ts'

export function auditRoutes(deps: AuditDeps): Mounted[] {
  return [
    handle(listAuditEntriesRoute, async (operation, { query }) => {
      const body = await listAudit(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getAuditEntryRoute, (operation, { params }) => getAudit(deps, operation, params.audit_id)),
  ]
}
