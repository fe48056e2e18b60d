// The operations of staff about the state of the installation, its parts, and what waits for the provider.
import { exportAccessRoute, listAccessRoute } from '@pharos/contract/operator/access-review'
import { listInboxRoute } from '@pharos/contract/operator/inbox'
import { listMailsRoute } from '@pharos/contract/operator/mail'
import {
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
} from '@pharos/contract/operator/network'
import { getStatusRoute, listProcessesRoute } from '@pharos/contract/operator/status'
import { listRegistriesRoute } from '@pharos/contract/operator/team'
import { listUsersRoute } from '@pharos/contract/operator/user'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { exportAccess, listAccessOfAll } from './access-review.ts'
import { listMails, listUsers } from './account-list.ts'
import { getStatus, type StatusDeps } from './get-status.ts'
import { listInbox, type InboxDeps } from './inbox.ts'
import { listExporters, listNameServers, listStaffScrubbers } from './network-list.ts'
import { listStaffProcesses } from './process-list.ts'
import { listRegistries, type RegistryDeps } from './registry-sources.ts'

export const statusRoutes = (deps: RegistryDeps & InboxDeps & StatusDeps): Mounted[] => [
  handleStaff(listRegistriesRoute, listRegistries, deps),
  handleStaff(listInboxRoute, listInbox, deps),
  handleStaff(getStatusRoute, getStatus, deps),
  handleStaff(listProcessesRoute, listStaffProcesses, deps),
  handleStaff(listNameServersRoute, listNameServers, deps),
  handleStaff(listScrubbersRoute, listStaffScrubbers, deps),
  handleStaff(listExportersRoute, listExporters, deps),
  handleStaff(listMailsRoute, listMails, deps),
  handleStaff(listUsersRoute, listUsers, deps),
  handleStaff(listAccessRoute, listAccessOfAll, deps),
  handleStaff(exportAccessRoute, exportAccess, deps),
]
