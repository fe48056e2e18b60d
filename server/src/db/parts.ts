// Wires the housekeeping of the database, in the reconciler role: hourly, and when the process starts.
import { expireAudit } from '../audit/expire.ts'
import type { Parts, Shared } from '../process/shared.ts'
import { createLoopComponent } from './loop-component.ts'
import { maintain } from './maintenance.ts'

export function parts(shared: Shared): Parts {
  const { config, owner, now, log } = shared
  const expire = async () => {
    if (config.auditRetentionMonths === 0) return
    const dropped = await expireAudit(owner, config.auditRetentionMonths, now())
    if (dropped.length > 0) log.info({ dropped }, 'audit partitions dropped')
  }
  const maintenance = () =>
    createLoopComponent(shared, {
      name: 'maintenance',
      sends: 'nothing',
      intervalMs: 3_600_000,
      run: () => maintain(owner).finally(expire),
    })
  return { reconciler: () => [maintenance()] }
}
