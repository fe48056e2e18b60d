// The operations of staff about the state of the installation, and about what waits for them.
import { listInboxRoute } from '@pharos/contract/operator/inbox'
import { getStatusRoute, listProcessesRoute } from '@pharos/contract/operator/status'
import { listRegistriesRoute } from '@pharos/contract/operator/team'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { getStatus, type StatusDeps } from './get-status.ts'
import { listInbox, type InboxDeps } from './inbox.ts'
import { listProcesses } from './process-list.ts'
import { listRegistries, type RegistryDeps } from './registry-sources.ts'

export const statusRoutes = (deps: RegistryDeps & InboxDeps & StatusDeps): Mounted[] => [
  handleStaff(listRegistriesRoute, listRegistries, deps),
  handleStaff(listInboxRoute, listInbox, deps),
  handleStaff(getStatusRoute, getStatus, deps),
  handleStaff(listProcessesRoute, listProcesses, deps),
]
