// The HTTP side of prefixes and services: one line per operation.
import { getPrefixRoute, listPrefixesRoute } from '@pharos/contract/prefix'
import { getServiceRoute, listServicesRoute } from '@pharos/contract/service'
import { handle, type Mounted } from '../http/mount.ts'
import { getPrefix, listPrefixes, type PrefixDeps } from './prefix.ts'
import { getService, listServices, type ServiceDeps } from './service.ts'

export const inventoryRoutes = (deps: PrefixDeps & ServiceDeps): Mounted[] => [
  handle(listPrefixesRoute, listPrefixes, deps),
  handle(getPrefixRoute, getPrefix, deps),
  handle(listServicesRoute, listServices, deps),
  handle(getServiceRoute, getService, deps),
]
