// The body of the loop that turns deliveries into events: parse, merge, match, write, mark, in one transaction per
// batch. A delivery that cannot be parsed is marked as failed with its error; it never stops the others.
import type { OwnershipCache } from '../../inventory/holding/ownership.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { isRefusedValue } from '../../db/write-rows.ts'
import { claimDeliveries, saveOutcomes } from './delivery.store.ts'
import type { SourceDelivery, DeliveryOutcome } from './delivery.store.ts'
import { mergeObservation } from '../event/event.ts'
import type { Event, EventSource } from '../event/event.ts'
import { insertEvents, lockEvents, saveEventNetworks, saveEvents } from '../event/event.store.ts'
import { isSameJson } from '../event/json.ts'
import { hostPrefix, networkOf } from '../../net/prefix.ts'
import { createSourceReader, failedDelivery, parseDelivery } from './parse-delivery.ts'
import type { IdentifiedObservation, ParsedDelivery, ReadState } from './parse-delivery.ts'
import { relateEvents } from '../relate/relationship.ts'
import { listSourceRows } from './source.store.ts'

/** Numbers of deliveries by result, and of events that changed. */
export type IngestReport = Readonly<Record<ReadState, number>> & { readonly events: number }

const nothing: IngestReport = { done: 0, partial: 0, failed: 0, events: 0 }

export type IngestOptions = {
  /** Maximum number of deliveries per batch. */
  readonly limit?: number
  /** Maximum total size of bodies per batch. */
  readonly bytesMax?: number
}

const limitDefault = 1_000
const bytesMaxDefault = 16 * 1024 * 1024

/** Batches in parallel: one is read and merged while PostgreSQL writes the other. */
const lanesMax = 2

/**
 * Processes all new deliveries in batches, until all are done or the signal is aborted. Any number of processes may run
 * it in parallel.
 */
export async function ingestDeliveries(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  signal?: AbortSignal,
): Promise<IngestReport> {
  const first = await ingestBatch(postgres, ownershipCache)
  // Fewer deliveries than half a batch need no second lane, whose every batch would be empty.
  const lanes = countOf(first) * 2 < limitDefault ? 1 : lanesMax
  const results = await Promise.allSettled(
    Array.from({ length: countOf(first) === 0 ? 0 : lanes }, () =>
      ingestLane(postgres, ownershipCache, signal),
    ),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.reduce(
    (sum, result) => (result.status === 'fulfilled' ? add(sum, result.value) : sum),
    first,
  )
}

async function ingestLane(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  signal: AbortSignal | undefined,
): Promise<IngestReport> {
  for (let total = nothing; ;) {
    if (signal?.aborted) return total
    const report = await ingestBatch(postgres, ownershipCache)
    if (countOf(report) === 0) return total
    total = add(total, report)
  }
}

const countOf = ({ done, partial, failed }: IngestReport): number => done + partial + failed

const add = (a: IngestReport, b: IngestReport): IngestReport => ({
  done: a.done + b.done,
  partial: a.partial + b.partial,
  failed: a.failed + b.failed,
  events: a.events + b.events,
})

/** Processes one batch; returns zeros if there was no new delivery. */
export async function ingestBatch(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  { limit = limitDefault, bytesMax = bytesMaxDefault }: IngestOptions = {},
): Promise<IngestReport> {
  await ownershipCache.refresh(postgres.owner)
  for (let size = limit; ;) {
    let deliveries: readonly SourceDelivery[] = []
    try {
      return await postgres.owner.transaction().execute(async (trx) => {
        deliveries = await claimDeliveries(trx, size, bytesMax)
        return await ingest(trx, ownershipCache, deliveries)
      })
    } catch (error) {
      // Another worker has inserted an event in the meantime: retry.
      if (error instanceof EventsAppeared) continue
      if (!isRefusedValue(error)) throw error
      // Some delivery in the batch cannot be stored. Smaller batches find it.
      if (deliveries.length === 1) return await quarantine(postgres, deliveries[0]!, error)
      size = Math.ceil(deliveries.length / 2)
    }
  }
}

class EventsAppeared extends Error {}

async function ingest(
  trx: Trx,
  ownershipCache: OwnershipCache,
  deliveries: readonly SourceDelivery[],
): Promise<IngestReport> {
  if (deliveries.length === 0) return nothing
  const { observations, outcomes } = await readDeliveries(trx, deliveries)
  // Before the teams' lists, which the other lane may be waiting for.
  await saveOutcomes(trx, outcomes)
  const events = await mergeObservations(trx, ownershipCache, observations)
  const count = (state: ReadState) => outcomes.filter((outcome) => outcome.state === state).length
  return { done: count('done'), partial: count('partial'), failed: count('failed'), events }
}

type SourcedObservation = IdentifiedObservation & { readonly source: EventSource }

async function readDeliveries(
  trx: Trx,
  deliveries: readonly SourceDelivery[],
): Promise<{ observations: SourcedObservation[]; outcomes: DeliveryOutcome[] }> {
  const rows = await listSourceRows(trx, [...new Set(deliveries.map(({ sourceKey }) => sourceKey))])
  const readers = new Map(rows.map((row) => [row.key, createSourceReader(row)]))
  const observations: SourcedObservation[] = []
  const outcomes = deliveries.map(({ id, sourceKey, received, body }): DeliveryOutcome => {
    const reader = readers.get(sourceKey)!
    const read = parseDelivery(reader, body, received, id)
    for (const one of read.observations) observations.push({ ...one, source: reader.source })
    return outcomeOf(id, read)
  })
  return { observations, outcomes }
}

/** Limit of event ids in a delivery. */
const eventIdsMax = 1_000

function outcomeOf(id: number, { state, error, notes, observations }: ParsedDelivery): DeliveryOutcome {
  const ids = [...new Set(observations.map(({ eventId }) => eventId))]
  return { id, state, error, notes, event_count: ids.length, event_ids: ids.slice(0, eventIdsMax) }
}

/** Returns the number of events written. */
async function mergeObservations(
  trx: Trx,
  ownershipCache: OwnershipCache,
  observations: readonly SourcedObservation[],
): Promise<number> {
  const byEvent = Map.groupBy(observations, ({ eventId }) => eventId)
  if (byEvent.size === 0) return 0
  // The lock order everywhere: ownership, events by id, teams.
  const ownership = await ownershipCache.lock(trx)
  const locked = new Map(
    (await lockEvents(trx, [...byEvent.keys()].toSorted())).map((known) => [known.event.id, known]),
  )
  const inserted: Event[] = []
  const saved: Event[] = []
  const several: Event[] = []
  const changed: Event[] = []
  for (const [id, ofEvent] of byEvent) {
    const known = locked.get(id)
    const merged = ofEvent.reduce<Event | undefined>(
      (event, { source, observation }) => mergeObservation(event, observation, source),
      known?.isRebuilt ? undefined : known?.event,
    )!
    const event = known ? { ...merged, hasAttachment: known.event.hasAttachment } : merged
    if (!known) inserted.push(event)
    else if (known.isRebuilt || !isSameJson(known.event, event)) saved.push(event)
    else continue
    if (!known || known.isRebuilt || changesLists(known.event, event)) changed.push(event)
    if (event.parsedData.networks ?? known?.event.parsedData.networks) several.push(event)
  }
  const written = await insertEvents(trx, inserted)
  if (written.size < inserted.length) throw new EventsAppeared()
  await saveEvents(trx, saved)
  await saveEventNetworks(trx, several)
  await relateEvents(trx, changed, ownership, { isObserved: true })
  return inserted.length + saved.length
}

/** Fields of an event that the lists do not contain. */
const notListed: ReadonlySet<keyof Event> = new Set([
  'parsedData',
  'mergeState',
  'sourceDelivery',
  'sourceReceived',
])

/**
 * Returns whether a team's list may change. A single address belongs to a team as a whole, so that every team gets the
 * parsed data of the event itself; of a larger network a team may have a separate part.
 */
function changesLists(before: Event, after: Event): boolean {
  const network = after.affectedNetwork
  if (network === null || hostPrefix(networkOf(network)) !== network || after.parsedData.networks) return true
  return (Object.keys(after) as (keyof Event)[]).some(
    (name) => !notListed.has(name) && !isSameJson(before[name], after[name]),
  )
}

/** PostgreSQL rejected the result of this delivery: it is kept as failed, since it would block all later ones. */
async function quarantine(postgres: Postgres, { id }: SourceDelivery, error: unknown): Promise<IngestReport> {
  const outcome = outcomeOf(id, failedDelivery(error))
  await postgres.owner.transaction().execute((trx) => saveOutcomes(trx, [outcome]))
  return { ...nothing, failed: 1 }
}
