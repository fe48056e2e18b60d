// The HTTP side of regions and routers: one line per operation.
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/operator/region'
import { giveUpFormerRouterRoute, listFormerRoutersRoute } from '@pharos/contract/byoip/former-router'
import { handleStaff, type Mounted } from '../../http/mount.ts'
import { giveUpFormerRouter, listFormerRouters } from './former-router.ts'
import { drainRouter, listAdminRegions, undrainRouter, type RouterDeps } from './router.ts'

export const routerRoutes = (deps: RouterDeps): Mounted[] => [
  handleStaff(listAdminRegionsRoute, listAdminRegions, deps),
  handleStaff(drainRouterRoute, drainRouter, deps),
  handleStaff(undrainRouterRoute, undrainRouter, deps),
  handleStaff(listFormerRoutersRoute, listFormerRouters, deps),
  handleStaff(giveUpFormerRouterRoute, giveUpFormerRouter, deps),
]
