// Wires the housekeeping of the database, in the reconciler role: hourly, and when the process starts.
import { expireAudit } from '../audit/expire.ts'
import { expireDeliveries } from '../events/ingest/expire-deliveries.ts'
import { expireEvents } from '../events/relate/expire-events.ts'
import type { Parts, Shared } from '../process/shared.ts'
import { expireAccounts } from '../session/unused-accounts.ts'
import { createLoopComponent } from './loop-component.ts'
import { maintain } from './maintenance.ts'
import { readRetentions, type RetentionKind } from './retention.ts'

export function parts(shared: Shared): Parts {
  const maintenance = () =>
    createLoopComponent(shared, {
      name: 'maintenance',
      sends: 'nothing',
      intervalMs: 3_600_000,
      run: (signal) => maintain(shared.owner).finally(() => expireAll(shared, signal)),
    })
  return { reconciler: () => [maintenance()] }
}

type Expire = (
  shared: Shared,
  limit: number,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, number>>>

const expiries: Record<RetentionKind, Expire> = {
  deliveries: async ({ owner }, days, signal) => ({ deleted: await expireDeliveries(owner, days, signal) }),
  events: async ({ owner }, months, signal) => ({ deleted: await expireEvents(owner, months, signal) }),
  audit: async ({ owner, now }, months) => ({
    months_dropped: (await expireAudit(owner, months, now())).length,
  }),
  accounts: ({ owner, ring }, months, signal) => expireAccounts({ db: owner, ring }, months, signal),
}

/** A kind that fails does not keep the others from being deleted. Throws the first error. */
async function expireAll(shared: Shared, signal: AbortSignal): Promise<void> {
  const errors: unknown[] = []
  for (const { kind, limit } of await readRetentions(shared.owner, shared.config)) {
    if (limit === null) continue
    try {
      const done = await expiries[kind](shared, limit, signal)
      if (Object.values(done).some((count) => count > 0))
        shared.log.info({ kind, ...done }, 'rows deleted after their retention')
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
