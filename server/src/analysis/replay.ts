// Runs kept deliveries again, after a normaliser or a source's settings were mended. It only marks them as new: the loop
// that reads deliveries does the rest.
import type { Db } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { markDeliveriesNew, markEventsAnew, type ReplayOptions } from './replay.store.ts'

export type ReplayReport = { readonly deliveries: number; readonly events: number }

const batch = 10_000

/**
 * Gives back how many deliveries will be read again, and how many events start anew with the first of them.
 *
 * Merging never lowers a peak or takes a flag away, so what a wrong normaliser said would stay for ever. Events of the
 * sources in question that began within the time that is replayed are therefore built anew from their deliveries, all of
 * which are replayed. Until then they are shown as they are. An event that began earlier is merged into as always; so is
 * everything where only failed deliveries are replayed, since those have said nothing so far. An event that the mended
 * normaliser no longer yields stays as it is.
 */
export async function replayDeliveries(db: Db, options: ReplayOptions = {}): Promise<ReplayReport> {
  const events = options.state === 'failed' ? 0 : await markEventsAnew(db, options)
  let deliveries = 0
  for (let after = 0; ;) {
    const ids = await db.transaction().execute(async (trx) => {
      const marked = await markDeliveriesNew(trx, options, after, batch)
      if (marked.length > 0) await wake(trx, 'deliveries')
      return marked
    })
    if (ids.length === 0) return { deliveries, events }
    deliveries += ids.length
    after = Math.max(...ids)
  }
}
