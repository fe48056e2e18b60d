// Stores reports of the detector as deliveries of its source, from files of the spool: in the order of each collector, and once, also if a
// file is read again after a crash.
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { insertDelivery } from '../../events/ingest/delivery.ts'
import type { Detection } from './detection.ts'
import { decodeReports } from './report-file.ts'
import type { Direction } from './scopes.ts'
import { listSharedAttacks, lockReports, saveAttacks } from './shared-attack.store.ts'
import { nextAttack, storedReport } from './shared-attack.ts'

/** Returns the number of stored reports, without reports that another collector has stored. */
export async function storeReports(
  { owner }: Postgres,
  sourceKey: string,
  collector: string,
  file: Uint8Array,
): Promise<number> {
  const detections = decodeReports(file)
  return owner.transaction().execute(async (trx) => {
    let stored = 0
    await lockReports(trx)
    for (const direction of ['incoming', 'outgoing'] as const)
      stored += await storeDirection(
        trx,
        detections.filter((one) => one.direction === direction),
        { direction, sourceKey, collector },
      )
    if (stored > 0) await wake(trx, 'deliveries')
    return stored
  })
}

type Origin = { readonly direction: Direction; readonly sourceKey: string; readonly collector: string }

async function storeDirection(
  trx: Trx,
  detections: readonly Detection[],
  { direction, sourceKey, collector }: Origin,
): Promise<number> {
  if (detections.length === 0) return 0
  let stored = 0
  const networks = [...new Set(detections.map(({ network }) => network))]
  const attacks = await listSharedAttacks(trx, direction, networks)
  for (const detection of detections) {
    const attack = nextAttack(attacks.get(detection.network), detection, collector)
    if (!attack) continue
    attacks.set(detection.network, attack)
    await insertDelivery(trx, {
      sourceKey,
      deliveryId: `${attack.id} ${detection.observed} ${detection.status}`,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(storedReport(detection, attack))),
    })
    stored++
  }
  await saveAttacks(trx, direction, attacks)
  return stored
}
