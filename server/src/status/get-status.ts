// The state of the installation for staff: the same facts as `pharos status`, without what has lists of its own.
import type { InstallationStatus } from '@pharos/contract/operator/status'
import type { Db } from '../db/postgres.ts'
import { allRoles } from '../runtime/role.ts'
import { version } from '../runtime/version.ts'
import { isLate } from './process-list.ts'
import { queuesOf, readStatus, type Status, type StatusConfig } from './status.ts'

export type StatusDeps = { readonly db: Db; readonly config: StatusConfig }

export async function getStatus({ db, config }: StatusDeps): Promise<InstallationStatus> {
  const status = await readStatus(db, config)
  const { at, parts, bills, problems, warnings } = status
  return {
    at: at.toISOString(),
    version,
    parts: [...parts],
    queues: queuesOf(status.lag),
    processes: processesOf(status),
    bills,
    problems: [...problems],
    warnings: [...warnings],
  }
}

const processesOf = ({ processes }: Pick<Status, 'processes'>): InstallationStatus['processes'] => ({
  running: processes.length,
  late_loops: processes.flatMap((one) => one.loops.filter((loop) => isLate(loop, one))).length,
  versions: [...new Set(processes.map((one) => one.version))].toSorted(),
  missing_roles: allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role))),
})
