// The HTTP side of holds: one line per operation.
import { approveHoldRoute, getHoldRoute, listHoldsRoute, rejectHoldRoute } from '@pharos/contract/hold'
import { handle, type Mounted } from '../../http/mount.ts'
import { approveHold, getHold, listHolds, rejectHold, type HoldDeps } from './hold.ts'

export const holdRoutes = (deps: HoldDeps): Mounted[] => [
  handle(listHoldsRoute, listHolds, deps),
  handle(getHoldRoute, getHold, deps),
  handle(approveHoldRoute, approveHold, deps),
  handle(rejectHoldRoute, rejectHold, deps),
]
