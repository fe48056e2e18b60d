// Wires events: their operations, and the loops of the collector role, which convert deliveries of detectors into events, match past events with
// resources added later, and save the flows of events.
import { createLoopComponent } from '../db/loop-component.ts'
import { flowDeps } from '../flow/parts.ts'
import type { Mounted } from '../http/mount.ts'
import { createOwnershipCache } from '../inventory/holding/ownership.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import { listCounting } from '../shield/parts.ts'
import { saveFlowsOfEvents } from './attachment/save-flows.ts'
import { deliveryRoutes } from './delivery.routes.ts'
import { eventRoutes } from './event.routes.ts'
import { ingestDeliveries } from './ingest/ingest.ts'
import { createMessageCache } from './list/message-cache.ts'
import { timezoneRoutes } from './place/timezone.routes.ts'
import { rematch } from './relate/rematch.ts'

/** Finds deliveries within this time if a notification is lost. */
const intervalMs = 10_000
const eventFlowsMs = 60_000

export function routes(shared: Shared): Mounted[] {
  const { postgres, front, ring, now } = shared
  return [
    ...timezoneRoutes({ db: front, now }),
    ...eventRoutes({
      ...shared,
      ...flowDeps(shared),
      messages: createMessageCache(),
      listCounting: listCounting(shared),
    }),
    ...deliveryRoutes({ postgres, keys: ring }),
  ]
}

export const parts = (shared: Shared): Parts => ({ collector: () => eventLoops(shared) })

function eventLoops(shared: Shared): Component[] {
  const { postgres, owner, flowStore, now, log, metrics } = shared
  const ownership = createOwnershipCache()
  return [
    createLoopComponent(shared, {
      name: 'ingest',
      sends: 'nothing',
      wakeName: 'deliveries',
      intervalMs,
      async run(signal) {
        const { done, partial, failed } = await ingestDeliveries(postgres, ownership, signal)
        metrics.deliveries.inc({ state: 'done' }, done)
        metrics.deliveries.inc({ state: 'partial' }, partial)
        metrics.deliveries.inc({ state: 'failed' }, failed)
        if (partial + failed > 0) {
          log.warn({ done, partial, failed }, 'deliveries could not be parsed; kept for replay')
        }
      },
    }),
    createLoopComponent(shared, {
      name: 'rematch',
      sends: 'nothing',
      wakeName: 'ownership',
      intervalMs,
      async run(signal) {
        const { resources, events } = await rematch(postgres, ownership, signal)
        if (resources > 0) log.info({ resources, events }, 'past events matched again')
      },
    }),
    createLoopComponent(shared, {
      name: 'event-flows',
      sends: 'nothing',
      intervalMs: eventFlowsMs,
      async run(signal) {
        const files = await saveFlowsOfEvents(owner, flowStore, now(), signal)
        if (files > 0) log.info({ files }, 'flows of events saved')
      },
    }),
  ]
}
