// The housekeeping of the database, in the reconciler role: hourly, and at once when the process starts.
import { maintain } from '../db/maintenance.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

export function maintenancePart({ postgres, log, metrics }: Shared): Component {
  return createLoop({
    name: 'maintenance',
    intervalMs: 3_600_000,
    run: () => maintain(postgres.owner),
    log,
    metrics,
  })
}
