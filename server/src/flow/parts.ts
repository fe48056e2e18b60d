// Wires flows: their operations, and the flow store of a process. The first use opens it: a process that serves no
// flows starts no ClickHouse, and a process without it starts normally.
import { assertChdb } from '../drivers/clickhouse/embedded.ts'
import { createFlowStore } from '../drivers/clickhouse/flow-store.ts'
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { flowRoutes } from './flow.routes.ts'
import { withMetrics, type ObservedFlowStore } from './measured-flow-store.ts'
import type { FlowDeps } from './read-flows.ts'

export const routes = (shared: Shared): Mounted[] => flowRoutes(flowDeps(shared))

export const flowDeps = ({ config, front, flowStore, now }: Shared): FlowDeps => ({
  db: front,
  flowStore,
  retention: { days: config.flowRetentionDays, rollupDays: config.flowRollupRetentionDays },
  now,
})

export function openFlowStore(
  config: Config,
  roles: readonly string[],
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): { readonly store: ObservedFlowStore; readonly part: Component } {
  const isEmbedded = config.clickhouseUrl === null
  const opened = createFlowStore({
    url: config.clickhouseUrl,
    dataDir: config.dataDir,
    retention: { flowDays: config.flowRetentionDays, rollupDays: config.flowRollupRetentionDays },
    log: (message) => log.warn({ event: message }, 'embedded ClickHouse'),
  })
  const advice = isEmbedded ? adviceIfMissing() : undefined
  const kind = isEmbedded ? 'embedded' : 'server'
  const store = withMetrics(opened, kind, log, metrics, advice !== undefined)
  const part: Component = {
    name: 'flow store',
    start: () => {
      const isUsed = roles.includes('api') || roles.includes('collector')
      if (isUsed && advice !== undefined) log.warn({ advice }, 'no ClickHouse: flows are not stored')
    },
    stop: () => store.close(),
  }
  return { store, part }
}

/** Returns the advice if the embedded ClickHouse is not installed, otherwise undefined. */
function adviceIfMissing(): string | undefined {
  try {
    assertChdb()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
