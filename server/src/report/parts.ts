// Wires the monthly reports: their operations, and their mails, a loop of the collector role, which has the flow store.
import { createBrandReader } from '../brand/brand.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import { assertChdb } from '../drivers/clickhouse/embedded.ts'
import { flowDeps } from '../flow/parts.ts'
import { mayCall } from '../http/authenticate.ts'
import type { Mounted } from '../http/mount.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { reportRoutes } from './report.routes.ts'
import { createReportDrawer } from './report.ts'
import { sendReports } from './send-reports.ts'

const intervalMs = 600_000

export const routes = (shared: ApiShared): Mounted[] =>
  reportRoutes({
    ...shared,
    flows: flowDeps(shared),
    drawer: createReportDrawer(),
    mayCall: (actor, permission) => mayCall(actor, permission, false),
  })

/** Empty without a mail server: reports of earlier months would be out of date once there is one. */
export const parts = (shared: Shared): Parts => ({
  collector: () =>
    shared.config.mailUrl === null && shared.config.mailFolder === null ? [] : [reports(shared)],
})

function reports(shared: Shared): Component {
  const { config, owner, log } = shared
  const deps = {
    ...shared,
    flows: flowDeps(shared),
    readBrand: createBrandReader(owner, config.providerName),
    drawer: createReportDrawer(),
    keepsFlows: keepsFlows(config),
    onError: (team: number, error: unknown) => log.error({ err: error, team }, 'monthly report failed'),
  }
  return createLoopComponent(shared, {
    name: 'reports',
    sends: { gate: shared.gate },
    wakeName: 'reports',
    intervalMs,
    async run(signal) {
      const teams = await sendReports(deps, signal)
      if (teams > 0) log.info({ teams }, 'monthly reports queued')
    },
  })
}

/** Without a server, flows are stored only if chDB is installed. */
function keepsFlows({ clickhouseUrl }: Config): boolean {
  if (clickhouseUrl !== null) return true
  try {
    assertChdb()
    return true
  } catch {
    return false
  }
}
