// The HTTP side of regions and routers: one line per operation.
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/admin-region'
import { handle, type Mounted } from '../../http/mount.ts'
import { drainRouter, listAdminRegions, undrainRouter, type RouterDeps } from './router.ts'

export const routerRoutes = (deps: RouterDeps): Mounted[] => [
  handle(listAdminRegionsRoute, listAdminRegions, deps),
  handle(drainRouterRoute, drainRouter, deps),
  handle(undrainRouterRoute, undrainRouter, deps),
]
