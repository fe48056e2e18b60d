// The housekeeping of the database, in the reconciler role: hourly, and at once when the process starts.
import { expireAudit } from '../audit/expire.ts'
import { maintain } from './maintenance.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from '../process/shared.ts'

export function maintenancePart({ config, postgres, log, metrics }: Shared): Component {
  const expire = async () => {
    if (config.auditRetentionMonths === 0) return
    const dropped = await expireAudit(postgres.owner, config.auditRetentionMonths, new Date())
    if (dropped.length > 0) log.info({ dropped }, 'audit partitions dropped')
  }
  return createLoop({
    name: 'maintenance',
    sends: 'nothing',
    intervalMs: 3_600_000,
    run: () => maintain(postgres.owner).finally(expire),
    log,
    metrics,
  })
}
