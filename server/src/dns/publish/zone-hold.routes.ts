// The HTTP side of holds of DNS: one line per operation.
import {
  approveZoneHoldRoute,
  getZoneHoldRoute,
  listZoneHoldsRoute,
  rejectZoneHoldRoute,
} from '@pharos/contract/zone-hold'
import { handleStaff, type Mounted } from '../../http/mount.ts'
import type { HoldDeps } from '../../hold/decide-hold.ts'
import { approveZoneHold, getZoneHold, listZoneHolds, rejectZoneHold } from './zone-hold.ts'

export const zoneHoldRoutes = (deps: HoldDeps): Mounted[] => [
  handleStaff(listZoneHoldsRoute, listZoneHolds, deps),
  handleStaff(getZoneHoldRoute, getZoneHold, deps),
  handleStaff(approveZoneHoldRoute, approveZoneHold, deps),
  handleStaff(rejectZoneHoldRoute, rejectZoneHold, deps),
]
