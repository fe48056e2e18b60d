// Wires the mails of monthly reports: a loop of the collector role, which has the flow store.
import { createBrandReader } from '../brand/brand.ts'
import { assertChdb } from '../drivers/clickhouse/embedded.ts'
import { createReportDrawer } from './report.ts'
import { sendReports } from './send-reports.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl, type Config } from '../runtime/config.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from '../process/shared.ts'

const intervalMs = 600_000

/** None without a mail server: reports of months before there is one would be out of date. */
export function reportsParts(shared: Shared): Component[] {
  const { config, postgres, flowStore, log } = shared
  if (config.mailUrl === null && config.mailFolder === null) return []
  const now = () => new Date()
  const deps = {
    postgres,
    flows: {
      db: postgres.front,
      flowStore,
      retention: { days: config.flowRetentionDays, rollupDays: config.flowRollupRetentionDays },
      now,
    },
    readBrand: createBrandReader(postgres.owner, config.providerName),
    drawer: createReportDrawer(),
    ring: config.secret,
    publicUrl: publicUrl(config),
    keepsFlows: keepsFlows(config),
    now,
    onError: (team: number, error: unknown) => log.error({ err: error, team }, 'monthly report failed'),
  }
  return [
    createLoopComponent(shared, {
      name: 'reports',
      sends: { gate: shared.gate },
      wakeName: 'reports',
      intervalMs,
      async run(signal) {
        const teams = await sendReports(deps, signal)
        if (teams > 0) log.info({ teams }, 'monthly reports queued')
      },
    }),
  ]
}

/** Without a server, flows are kept only where chDB is installed. */
function keepsFlows({ clickhouseUrl }: Config): boolean {
  if (clickhouseUrl !== null) return true
  try {
    assertChdb()
    return true
  } catch {
    return false
  }
}
