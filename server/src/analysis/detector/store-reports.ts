// Stores reports of the detector as deliveries of its source, from files of the spool: in the order of each collector, and once, also if a
// file is read again after a crash.
import type { Postgres } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { insertDelivery } from '../delivery.store.ts'
import { decodeReports } from './report-file.ts'
import { lockAttacks, saveAttacks } from './shared-attack.store.ts'
import { nextAttack } from './shared-attack.ts'

/** Returns the number of stored reports: those that another collector has stored are left out. */
export async function storeReports(
  { owner }: Postgres,
  sourceKey: string,
  collector: string,
  file: Uint8Array,
): Promise<number> {
  const detections = decodeReports(file)
  return owner.transaction().execute(async (trx) => {
    let stored = 0
    const attacks = await lockAttacks(trx, [...new Set(detections.map(({ network }) => network))])
    for (const detection of detections) {
      const attack = nextAttack(attacks.get(detection.network), detection, collector)
      if (!attack) continue
      attacks.set(detection.network, attack)
      await insertDelivery(trx, {
        sourceKey,
        deliveryId: `${attack.id} ${detection.observed} ${detection.status}`,
        contentType: 'application/json',
        body: Buffer.from(JSON.stringify({ ...detection, id: attack.id })),
      })
      stored++
    }
    await saveAttacks(trx, attacks)
    if (stored > 0) await wake(trx, 'deliveries')
    return stored
  })
}
