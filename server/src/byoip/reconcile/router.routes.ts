// The HTTP side of regions and routers: one line per operation.
import { drainRouter, listAdminRegions as listRoute, undrainRouter } from '@pharos/contract/admin-region'
import { auditOf } from '../../db/audit.ts'
import { handle, type Mounted } from '../../http/mount.ts'
import { listAdminRegions, setDrained, type RouterDeps } from './router.ts'

export function routerRoutes(deps: RouterDeps): Mounted[] {
  return [
    handle(listRoute, async (_operation, { query }) => {
      const body = await listAdminRegions(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(drainRouter, async (operation, { params }) => {
      return { body: await setDrained(deps, auditOf(operation), params, true) }
    }),
    handle(undrainRouter, async (operation, { params }) => {
      return { body: await setDrained(deps, auditOf(operation), params, false) }
    }),
  ]
}
