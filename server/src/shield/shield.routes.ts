// The HTTP side of shield: one line per operation.
import {
  listShieldListsRoute,
  listShieldRulesRoute,
  revertShieldListRoute,
  simulateShieldRoute,
  updateShieldRulesRoute,
} from '@pharos/contract/shield/shield'
import { getShieldTrafficRoute } from '@pharos/contract/shield/shield-traffic'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import type { EventTrafficDeps } from '../events/list/event-traffic.ts'
import { handle, type Mounted } from '../http/mount.ts'
import { listShieldLists, listShieldRules, simulateShield, type SimulateDeps } from './read-shield.ts'
import { revertShieldList } from './revert-shield.ts'
import { getShieldTraffic } from './shield-traffic.ts'
import { suggestShieldRules, type SuggestDeps } from './suggest-shield-rules.ts'
import { updateShieldRules, type UpdateDeps } from './update-shield.ts'

export const shieldRoutes = (deps: UpdateDeps & SimulateDeps & SuggestDeps & EventTrafficDeps): Mounted[] => [
  handle(listShieldRulesRoute, listShieldRules, deps),
  handle(updateShieldRulesRoute, updateShieldRules, deps),
  handle(listShieldListsRoute, listShieldLists, deps),
  handle(revertShieldListRoute, revertShieldList, deps),
  handle(simulateShieldRoute, simulateShield, deps),
  handle(suggestShieldRulesRoute, suggestShieldRules, deps),
  handle(getShieldTrafficRoute, getShieldTraffic, deps),
]
