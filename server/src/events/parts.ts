// The collector role: converts deliveries of detectors into events, matches past events with resources added later, reads devices,
// and sends webhooks.
import { saveFlowsOfEvents } from './attachment/save-flows.ts'
import { ingestDeliveries } from './ingest/ingest.ts'
import { rematch } from './relate/rematch.ts'
import { closePeriods } from '../inventory/bill/close-period.ts'
import { watchOptics } from '../inventory/optics/watch-optics.ts'
import { createOwnershipCache } from '../inventory/holding/ownership.ts'
import { compactUsage } from '../inventory/usage/compact.store.ts'
import type { Component } from '../runtime/component.ts'
import { devicesPart } from '../inventory/parts.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from '../process/shared.ts'
import { webhooksPart } from '../webhook/parts.ts'

/** Finds deliveries within this time if a notification is lost. */
const intervalMs = 10_000
const compactMs = 600_000
const eventFlowsMs = 60_000
const hourMs = 3_600_000

export function collectorParts(shared: Shared): Component[] {
  const { postgres, log, metrics } = shared
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
        const files = await saveFlowsOfEvents(postgres.owner, shared.flowStore, new Date(), signal)
        if (files > 0) log.info({ files }, 'flows of events saved')
      },
    }),
    devicesPart(shared),
    createLoopComponent(shared, {
      name: 'compact-usage',
      sends: 'nothing',
      intervalMs: compactMs,
      async run() {
        const days = await compactUsage(postgres.owner)
        if (days > 0) log.info({ days }, 'usage of past days compacted')
      },
    }),
    createLoopComponent(shared, {
      name: 'watch-optics',
      sends: 'nothing',
      intervalMs: hourMs,
      async run(signal) {
        const modules = await watchOptics(postgres.owner, new Date(), signal)
        if (modules > 0) log.info({ modules }, 'light levels of past days read')
      },
    }),
    createLoopComponent(shared, {
      name: 'close-period',
      sends: 'nothing',
      intervalMs: hourMs,
      async run(signal) {
        const months = await closePeriods(postgres, new Date(), signal)
        if (months > 0) log.info({ months }, 'months of services closed')
      },
    }),
    webhooksPart(shared),
  ]
}
