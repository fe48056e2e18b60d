// The operations of staff about the state of the installation.
import { listRegistriesRoute } from '@pharos/contract/operator/team'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { listRegistries, type RegistryDeps } from './registry-sources.ts'

export const statusRoutes = (deps: RegistryDeps): Mounted[] => [
  handleStaff(listRegistriesRoute, listRegistries, deps),
]
