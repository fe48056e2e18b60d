// One run of the publish loop: every zone with versions or signatures that are not published, a few at a time. A zone that fails does not
// delay the others.
import type { Log } from '../../runtime/log.ts'
import { listUnpublished } from './publish.store.ts'
import { publishZone, type PublishDeps } from './publish-zone.ts'

/** Zones at once: transactions of small zones wait for the disk most of the time. */
const parallel = 4

/** Publishes what is new; resolves when all zones have been tried. `created` zones are new members of the catalog zone. */
export async function publishZones(
  deps: PublishDeps,
  log: Log,
  signal: AbortSignal,
): Promise<{ readonly created: number; readonly published: number; readonly failed: number }> {
  const zones = await listUnpublished(deps.db)
  const outcome = { created: 0, published: 0, failed: 0 }
  const next = zones.entries()
  const work = async (): Promise<void> => {
    for (const [place, zone] of next) {
      const { id } = zone
      signal.throwIfAborted()
      try {
        // The rows of those that had to wait may have changed.
        const result = await publishZone(deps, id, place < parallel ? zone : undefined)
        if (result === 'created') outcome.created++
        else if (result === 'published') outcome.published++
        else if (result === 'held' || result === 'error')
          log.warn({ zone: id, result }, 'zone not published; its status has the reason')
      } catch (error) {
        outcome.failed++
        log.error({ zone: id, err: error }, 'zone not published; the next run is the retry')
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, zones.length) }, work))
  return outcome
}
