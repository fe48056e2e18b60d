// Wires the operations about the state of the installation. Each process reports itself: process/serve.ts.
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import { statusRoutes } from './status.routes.ts'

export const routes = (shared: Shared): Mounted[] => statusRoutes({ ...shared, db: shared.front })
