// Reports this process to the database, so that `pharos status` can list running processes, their loops and their
// registry sources. No other part depends on it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Db } from '../db/postgres.ts'
import { belowFloor } from '../db/schema-floor.ts'
import type { FlowStoreReport } from '../flow/measured-flow-store.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Role } from '../runtime/role.ts'
import { compareVersions, version } from '../runtime/version.ts'
import { readRegistries, type RegistryViews } from './registry-sources.ts'
import { deleteProcess, saveProcess, type LoopReport } from './status.store.ts'

/** A process that has not reported for three times as long counts as gone: `runningSeconds` of status.store.ts. */
const reportIntervalMs = 15_000

/** Counters would be added to other minutes. */
const clockMaxMs = 5_000
export const isClockOff = (ms: number | null): boolean => ms !== null && Math.abs(ms) > clockMaxMs

export type ProcessReportDeps = RegistryViews & {
  readonly owner: Db
  readonly log: Log
  readonly metrics: Metrics
  readonly roles: readonly Role[]
  readonly readFlowStore: () => FlowStoreReport
}

export function createProcessReport(deps: ProcessReportDeps): Component {
  const { owner: db, log, metrics, roles, readFlowStore } = deps
  const id = randomUUID()
  const started = new Date()
  const readsRegistries = roles.some((role) => role === 'api' || role === 'reconciler')
  let wasClockOff = false
  const loop = createLoop({
    name: 'process-report',
    sends: 'nothing',
    intervalMs: reportIntervalMs,
    run: async () => {
      const { floor, clockMs } = await saveProcess(db, {
        id,
        host: hostname(),
        pid: process.pid,
        version,
        roles,
        started,
        loops: await readLoops(metrics),
        registries: readsRegistries ? readRegistries(deps) : [],
        flow_store: readFlowStore(),
      })
      if (clockMs !== null && isClockOff(clockMs) !== wasClockOff) {
        wasClockOff = !wasClockOff
        if (wasClockOff) log.error({ clock_ms: clockMs }, 'clock differs from that of the database')
        else log.info({ clock_ms: clockMs }, 'clock agrees with that of the database again')
      }
      if (floor === null || compareVersions(version, floor) >= 0) return
      // It was out of reach of the database when the upgrade was finished, or was just starting.
      log.error({ floor }, belowFloor(version, floor))
      process.kill(process.pid, 'SIGTERM')
    },
    log,
    metrics,
  })
  return {
    name: 'process report',
    start: () => loop.start(),
    async stop() {
      await loop.stop()
      // Without the database the row stays until it has aged.
      await deleteProcess(db, id).catch(() => {})
    },
  }
}

async function readLoops({ loopInterval, loopLastSuccess }: Metrics): Promise<LoopReport[]> {
  const [intervals, successes] = await Promise.all([loopInterval.get(), loopLastSuccess.get()])
  const lastOf = new Map(successes.values.map(({ labels, value }) => [labels.loop, value]))
  return intervals.values.map(({ labels: { loop }, value }) => {
    const last = lastOf.get(loop)
    return {
      name: String(loop),
      interval_seconds: value,
      last_success: last === undefined ? null : new Date(last * 1000).toISOString(),
    }
  })
}
