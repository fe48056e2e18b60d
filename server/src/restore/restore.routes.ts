// The HTTP side of restores: one line per operation.
import {
  closeRestoreRoute,
  decideRestoreRoute,
  getRestoreRoute,
  listRestoreItemsRoute,
  listRestoresRoute,
} from '@pharos/contract/operator/restore'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { closeRestore, decideRestore, type DecideDeps } from './decide.ts'
import { getRestore, listRestoreItems, listRestores } from './restore.ts'

export const restoreRoutes = (deps: DecideDeps): Mounted[] => [
  handleStaff(listRestoresRoute, listRestores, deps),
  handleStaff(getRestoreRoute, getRestore, deps),
  handleStaff(listRestoreItemsRoute, listRestoreItems, deps),
  handleStaff(decideRestoreRoute, decideRestore, deps),
  handleStaff(closeRestoreRoute, closeRestore, deps),
]
