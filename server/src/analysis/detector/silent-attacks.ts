// Ends attacks of our own detector that no collector reports any more: it was stopped, or its traffic goes elsewhere. The detector reports
// each attack every ten seconds.
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { insertDelivery } from '../delivery.store.ts'
import { listSilentAttacks } from './silent-attacks.store.ts'

/** Stores a delivery with the end of each. Returns their number. */
export async function endSilentAttacks({ owner }: Postgres, now: Date): Promise<number> {
  const silent = await listSilentAttacks(owner)
  if (silent.length === 0) return 0
  await owner.transaction().execute(async (trx) => {
    for (const { sourceKey, id, network } of silent) {
      const time = now.toISOString()
      await insertDelivery(trx, {
        sourceKey,
        deliveryId: randomUUID(),
        contentType: 'application/json',
        body: Buffer.from(JSON.stringify({ id, network, status: 'ended', end: time, observed: time })),
      })
    }
    await wake(trx, 'deliveries')
  })
  return silent.length
}
