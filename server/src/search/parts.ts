// Wires the search.
import { mayCall } from '../http/authenticate.ts'
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import { searchRoutes } from './search.routes.ts'

export const routes = ({ postgres, front }: Shared): Mounted[] =>
  searchRoutes({ postgres, db: front, mayCall })
