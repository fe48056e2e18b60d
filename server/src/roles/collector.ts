// The collector role: deliveries of detectors become events, resources that a team got later find their past events, and
// webhooks are sent.
import { ingestDeliveries } from '../analysis/ingest.ts'
import { rematch } from '../analysis/rematch.ts'
import type { WakeName } from '../db/wake.ts'
import { createOwnershipCache } from '../inventory/ownership.ts'
import type { Component } from '../runtime/component.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'
import { webhooksPart } from './webhooks.ts'

/** A delivery that nobody was woken for is found after this long. */
const intervalMs = 10_000

export function collectorParts(shared: Shared): Component[] {
  const { postgres, log, metrics } = shared
  const ownership = createOwnershipCache()
  return [
    wokenLoop(shared, 'ingest', 'deliveries', async (signal) => {
      const { done, failed } = await ingestDeliveries(postgres, ownership, signal)
      metrics.deliveries.inc({ state: 'done' }, done)
      metrics.deliveries.inc({ state: 'failed' }, failed)
      if (failed > 0) log.warn({ done, failed }, 'deliveries could not be read; they are kept for replay')
    }),
    wokenLoop(shared, 'rematch', 'ownership', async (signal) => {
      const { resources, events } = await rematch(postgres, ownership, signal)
      if (resources > 0) log.info({ resources, events }, 'past events were matched again')
    }),
    webhooksPart(shared),
  ]
}

function wokenLoop(
  { waker, log, metrics }: Shared,
  name: string,
  wakeName: WakeName,
  run: (signal: AbortSignal) => Promise<void>,
): Component {
  const loop = createLoop({ name, intervalMs, run, log, metrics })
  let off = () => {}
  return {
    name,
    start: () => {
      off = waker.on(wakeName, () => loop.wake())
      loop.start()
    },
    stop: () => {
      off()
      return loop.stop()
    },
  }
}
