// Wires the state of the installation: its operations, and the report of this process, which every role needs.
import type { ObservedFlowStore } from '../flow/measured-flow-store.ts'
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Role } from '../runtime/role.ts'
import { createProcessReport } from './process-report.ts'
import { statusRoutes } from './status.routes.ts'

export const routes = ({ front, rpki, irr }: Shared): Mounted[] => statusRoutes({ db: front, rpki, irr })

export const processReport = (
  shared: Shared,
  roles: readonly Role[],
  flowStore: ObservedFlowStore,
): Component => createProcessReport({ ...shared, roles, readFlowStore: () => flowStore.report() })
