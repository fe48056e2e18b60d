// One run of the publish loop: the zones with versions or signatures that are not published, a few at a time. A zone that fails does not
// delay the others.
import type { Log } from '../../runtime/log.ts'
import type { UnpublishedZone } from './publish.store.ts'
import { publishZone, type PublishDeps } from './publish-zone.ts'

/** Zones published in parallel: transactions of small zones mostly wait for the disk. */
export const parallelZones = 4

/** Publishes these zones; resolves when all zones have been tried. `created` zones are new members of the catalog zone. */
export async function publishZones(
  deps: PublishDeps,
  zones: readonly UnpublishedZone[],
  log: Log,
  signal: AbortSignal,
): Promise<{ readonly created: number; readonly published: number; readonly failed: number }> {
  const outcome = { created: 0, published: 0, failed: 0 }
  const next = zones.values()
  const work = async (): Promise<void> => {
    for (const { id, zone } of next) {
      signal.throwIfAborted()
      try {
        const result = await publishZone(deps, id, zone)
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
  await Promise.all(Array.from({ length: Math.min(parallelZones, zones.length) }, work))
  return outcome
}
