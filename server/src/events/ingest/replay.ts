// Replays kept deliveries, after a normaliser or a source's settings were fixed. It only marks them as new: the ingest
// loop processes them.
import type { Db } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { markDeliveriesNew, markEventsForRebuild, type ReplayOptions } from './replay.store.ts'

export type ReplayReport = { readonly deliveries: number; readonly events: number }

const batch = 10_000

/**
 * Returns how many deliveries will be processed again, and how many events are rebuilt from them.
 *
 * Merging never lowers a peak or removes a flag, so values from a wrong normaliser would remain forever. Events of the
 * selected sources that began within the replayed time are therefore rebuilt from their deliveries, all of which are
 * replayed. Until then they stay unchanged. Earlier events are merged as always; so are all events if only failed
 * deliveries are replayed, because failed deliveries have not contributed to events yet. An event that the fixed
 * normaliser no longer produces remains unchanged.
 */
export async function replayDeliveries(db: Db, options: ReplayOptions = {}): Promise<ReplayReport> {
  const events = options.state === 'failed' ? 0 : await markEventsForRebuild(db, options)
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
