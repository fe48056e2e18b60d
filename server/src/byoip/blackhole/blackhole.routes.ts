// The HTTP side of black holes: one line per operation.
import {
  createBlackholeRoute,
  deleteBlackholeRoute,
  getBlackholeRoute,
  listBlackholesRoute,
} from '@pharos/contract/shield/blackhole'
import { handle, type Mounted } from '../../http/mount.ts'
import {
  createBlackhole,
  deleteBlackhole,
  getBlackhole,
  listBlackholes,
  type BlackholeDeps,
} from './blackhole.ts'

export const blackholeRoutes = (deps: BlackholeDeps): Mounted[] => [
  handle(listBlackholesRoute, listBlackholes, deps),
  handle(getBlackholeRoute, getBlackhole, deps),
  handle(createBlackholeRoute, createBlackhole, deps),
  handle(deleteBlackholeRoute, deleteBlackhole, deps),
]
