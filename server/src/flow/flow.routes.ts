// HTTP routes of flows: one line per operation.
import {
  exportFlowTimeseriesRoute,
  getFlowGraphRoute,
  getFlowTimeseriesRoute,
} from '@pharos/contract/flow/flow'
import { handle, type Mounted } from '../http/mount.ts'
import { getFlowGraph } from './flow-graph.ts'
import { exportFlowTimeseries, getFlowTimeseries } from './flow-timeseries.ts'
import type { FlowDeps } from './read-flows.ts'

export const flowRoutes = (deps: FlowDeps): Mounted[] => [
  handle(getFlowTimeseriesRoute, getFlowTimeseries, deps),
  handle(exportFlowTimeseriesRoute, exportFlowTimeseries, deps),
  handle(getFlowGraphRoute, getFlowGraph, deps),
]
