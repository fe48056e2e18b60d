// Every operation of the API. A route that is not listed here does not exist: the server refuses to mount it.
import { analysisRoutes } from './analysis.ts'
import { byoipRoutes } from './byoip.ts'
import { holdRoutes } from './hold.ts'
import { inventoryRoutes } from './inventory.ts'
import { letterRoutes } from './letter.ts'
import type { Route } from './route.ts'
import { sessionRoutes } from './session.ts'

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...byoipRoutes,
  ...holdRoutes,
  ...letterRoutes,
  ...inventoryRoutes,
  ...analysisRoutes,
]
