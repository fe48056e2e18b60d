// Ends attacks of our own detector that no collector reports any more: it was stopped, or its traffic goes elsewhere. The detector reports
// each attack every ten seconds.
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { insertDelivery } from '../../events/ingest/delivery.ts'
import { endAttacks, lockReports } from './shared-attack.store.ts'
import { listSilentAttacks } from './silent-attacks.store.ts'

/** The interval of the check. */
export const silentCheckMs = 60_000

/**
 * Returns the check, which ends silent attacks and returns their number. After an outage of the database, and after a
 * start, reports are queued on the disks of collectors: the check has no effect unless the previous check, a minute
 * ago, has succeeded, nor while `hasReports` of this process.
 */
export function createSilentCheck(
  postgres: Postgres,
  hasReports: () => boolean,
): (now: Date) => Promise<number> {
  let last = -Infinity
  return async (now) => {
    const silent = await listSilentAttacks(postgres.owner)
    const isSettled = now.getTime() - last < 2 * silentCheckMs
    last = now.getTime()
    return silent.length > 0 && isSettled && !hasReports() ? endSilentAttacks(postgres, now) : 0
  }
}

/** Stores a delivery with the end of each. Returns their number. */
export async function endSilentAttacks({ owner }: Postgres, now: Date): Promise<number> {
  return owner.transaction().execute(async (trx) => {
    await lockReports(trx)
    const silent = await listSilentAttacks(trx)
    for (const { sourceKey, id, network } of silent) {
      const time = now.toISOString()
      await insertDelivery(trx, {
        sourceKey,
        deliveryId: randomUUID(),
        contentType: 'application/json',
        body: Buffer.from(JSON.stringify({ id, network, status: 'ended', end: time, observed: time })),
      })
    }
    const ids = silent.map(({ id }) => id)
    await endAttacks(trx, ids, now)
    if (ids.length > 0) await wake(trx, 'deliveries')
    return ids.length
  })
}
