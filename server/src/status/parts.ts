// Wires the operations about the state of the installation. Each process reports itself: process/serve.ts.
import { basicApprovalAreas } from '../approval/parts.ts'
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import type { InboxDeps } from './inbox.ts'
import { statusRoutes } from './status.routes.ts'

export const routes = (shared: Shared): Mounted[] => statusRoutes({ ...shared, ...inboxDeps(shared) })

/** The customers count with it what waits of each. */
export const inboxDeps = (shared: Shared): InboxDeps => ({
  ...shared,
  db: shared.front,
  areas: basicApprovalAreas,
})
