// The processes of the installation for staff, as each reports itself: releases, roles, and loops that are late.
import type { listProcessesRoute, Process } from '@pharos/contract/operator/status'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { allRoles } from '../runtime/role.ts'
import { listProcessRows, runningSeconds, type LiveProcess, type LoopReport } from './status.store.ts'

/** Returns a page of the processes of the last day, and the exact count. */
export async function listStaffProcesses(
  { db }: { readonly db: Db },
  _operation: unknown,
  query: QueryOf<typeof listProcessesRoute>,
): Promise<{ results: Process[]; count: number }> {
  const { page, count } = await listProcessRows(db, query)
  return { results: page.map(present), count }
}

export const isRunning = ({ age_seconds: age }: Pick<LiveProcess, 'age_seconds'>): boolean =>
  age <= runningSeconds

/** A loop is late after three intervals and a minute: a run may take its time. */
export function isLate(
  { interval_seconds: interval, last_success: last }: LoopReport,
  { seen, uptime_seconds: uptime }: Pick<LiveProcess, 'seen' | 'uptime_seconds'>,
): boolean {
  const since = last === null ? uptime : (seen.getTime() - new Date(last).getTime()) / 1000
  return since > 3 * interval + 60
}

function present(row: LiveProcess): Process {
  const { id, host, pid, version, roles, started, seen, clock_ms, flow_store } = row
  const loops = row.loops
    .map((loop) => ({ ...loop, late: isLate(loop, row) }))
    .toSorted((a, b) => a.name.localeCompare(b.name))
  return {
    id,
    host,
    pid,
    version,
    roles: allRoles.filter((role) => roles.includes(role)),
    started: started.toISOString(),
    seen: seen.toISOString(),
    running: isRunning(row),
    clock_ms,
    late_loops: loops.filter(({ late }) => late).length,
    loops,
    flow_store,
  }
}
