// The flow store of a process. It is opened by its first use: a process that serves no flows starts no ClickHouse, and one that
// lacks it starts all the same.
import type { FlowStore } from '../analysis/flow/flow-store.ts'
import { assertChdb } from '../drivers/clickhouse/embedded.ts'
import { createFlowStore } from '../drivers/clickhouse/flow-store.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Role } from './process-report.ts'

export function openFlowStore(
  config: Config,
  roles: readonly Role[],
  log: Log,
): { readonly store: FlowStore; readonly part: Component } {
  const store = createFlowStore({
    url: config.clickhouseUrl,
    dataDir: config.dataDir,
    retention: { flowDays: config.flowRetentionDays, rollupDays: config.flowRollupRetentionDays },
    log: (message) => log.warn({ store: 'clickhouse' }, message),
  })
  const isUsed = roles.includes('api') || roles.includes('collector')
  const part: Component = {
    name: 'flow store',
    start: () => {
      if (isUsed && config.clickhouseUrl === null) warnIfMissing(log)
    },
    stop: () => store.close(),
  }
  return { store, part }
}

function warnIfMissing(log: Log): void {
  try {
    assertChdb()
  } catch (error) {
    log.warn({ advice: (error as Error).message }, 'flows are not kept: no ClickHouse')
  }
}
