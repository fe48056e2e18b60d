// The HTTP side of service accounts: one line per operation.
import {
  createServiceAccountRoute,
  deleteServiceAccountRoute,
  getServiceAccountRoute,
  listServiceAccountsRoute,
  updateServiceAccountRoute,
} from '@pharos/contract/team/service-account'
import { handle, type Mounted } from '../http/mount.ts'
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listServiceAccounts,
  updateServiceAccount,
  type ServiceAccountDeps,
} from './service-account.ts'

export const serviceAccountRoutes = (deps: ServiceAccountDeps): Mounted[] => [
  handle(listServiceAccountsRoute, listServiceAccounts, deps),
  handle(getServiceAccountRoute, getServiceAccount, deps),
  handle(createServiceAccountRoute, createServiceAccount, deps),
  handle(updateServiceAccountRoute, updateServiceAccount, deps),
  handle(deleteServiceAccountRoute, deleteServiceAccount, deps),
]
