// The HTTP side of holds: one line per operation.
import { approveHoldRoute, getHoldRoute, listHoldsRoute, rejectHoldRoute } from '@pharos/contract/hold'
import { handleStaff, type Mounted } from '../../http/mount.ts'
import type { HoldDeps } from '../../hold/decide-hold.ts'
import { approveHold, getHold, listHolds, rejectHold } from './hold.ts'

export const holdRoutes = (deps: HoldDeps): Mounted[] => [
  handleStaff(listHoldsRoute, listHolds, deps),
  handleStaff(getHoldRoute, getHold, deps),
  handleStaff(approveHoldRoute, approveHold, deps),
  handleStaff(rejectHoldRoute, rejectHold, deps),
]
