// The HTTP side of regions and routers: one line per operation.
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/admin-region'
import { auditOf } from '../../db/audit.ts'
import { handle, type Mounted } from '../../http/mount.ts'
import { listAdminRegions, setDrained, type RouterDeps } from './router.ts'

export function routerRoutes(deps: RouterDeps): Mounted[] {
  return [
    handle(listAdminRegionsRoute, async (_operation, { query }) => {
      const body = await listAdminRegions(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(drainRouterRoute, async (operation, { params }) => {
      return { body: await setDrained(deps, auditOf(operation), params, true) }
    }),
    handle(undrainRouterRoute, async (operation, { params }) => {
      return { body: await setDrained(deps, auditOf(operation), params, false) }
    }),
  ]
}
