// The body of the loop that turns deliveries into events: parse, merge, match, write, mark, in one transaction per
// batch. A delivery that cannot be parsed is marked as failed with its error; it never stops the others.
import type { OwnershipCache } from '../inventory/ownership.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { claimDeliveries, saveOutcomes } from './delivery.store.ts'
import type { Delivery, Outcome } from './delivery.store.ts'
import { eventId, mergeObservation } from './event.ts'
import type { Event, EventSource, Observation } from './event.ts'
import { insertEvents, lockEvents, saveEventNetworks, saveEvents } from './event.store.ts'
import { canonicalJson, cleanText } from './json.ts'
import type { Json } from './json.ts'
import { relateEvents } from './relationship.ts'
import { listSources } from './source.store.ts'
import { sourceOfKind } from './sources/index.ts'
import { defaultTexts } from './sources/settings.ts'
import { NormaliseError } from './sources/source.ts'
import type { Normaliser } from './sources/source.ts'

export type IngestReport = { readonly done: number; readonly failed: number; readonly events: number }

export type IngestOptions = {
  /** Maximum number of deliveries per batch. */
  readonly limit?: number
  /** Maximum total size of bodies per batch. */
  readonly bytesMax?: number
}

const limitDefault = 500
const bytesMaxDefault = 16 * 1024 * 1024

/**
 * Processes all new deliveries in batches, until none is left or the signal is aborted. Any number of processes may do
 * this at once.
 */
export async function ingestDeliveries(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  signal?: AbortSignal,
): Promise<IngestReport> {
  let total: IngestReport = { done: 0, failed: 0, events: 0 }
  for (;;) {
    if (signal?.aborted) return total
    const report = await ingestBatch(postgres, ownershipCache)
    if (report.done + report.failed === 0) return total
    total = {
      done: total.done + report.done,
      failed: total.failed + report.failed,
      events: total.events + report.events,
    }
  }
}

/** Processes one batch; returns zeros if there was no new delivery. */
export async function ingestBatch(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  { limit = limitDefault, bytesMax = bytesMaxDefault }: IngestOptions = {},
): Promise<IngestReport> {
  await ownershipCache.refresh(postgres.owner)
  for (let size = limit; ;) {
    let deliveries: readonly Delivery[] = []
    try {
      return await postgres.owner.transaction().execute(async (trx) => {
        deliveries = await claimDeliveries(trx, size, bytesMax)
        return await ingest(trx, ownershipCache, deliveries)
      })
    } catch (error) {
      // Another worker inserted one of the events meanwhile: it exists now, so retry.
      if (error instanceof EventsAppeared) continue
      if (!isDataError(error)) throw error
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
  deliveries: readonly Delivery[],
): Promise<IngestReport> {
  if (deliveries.length === 0) return { done: 0, failed: 0, events: 0 }
  const { observations, outcomes } = await readDeliveries(trx, deliveries)
  const events = await mergeObservations(trx, ownershipCache, observations)
  await saveOutcomes(trx, outcomes)
  const failed = outcomes.filter(({ error }) => error !== null).length
  return { done: outcomes.length - failed, failed, events }
}

type SourcedObservation = { readonly source: EventSource; readonly observation: Observation }

async function readDeliveries(
  trx: Trx,
  deliveries: readonly Delivery[],
): Promise<{ observations: SourcedObservation[]; outcomes: Outcome[] }> {
  const readers = await createReaders(trx, [...new Set(deliveries.map(({ sourceKey }) => sourceKey))])
  const observations: SourcedObservation[] = []
  const outcomes = deliveries.map(({ id, sourceKey, received, body }): Outcome => {
    try {
      const { source, normalise } = readers.get(sourceKey)!
      for (const observation of normalise(parseBody(body), received))
        observations.push({ source, observation })
      return { id, error: null }
    } catch (error) {
      return { id, error: errorText(error) }
    }
  })
  return { observations, outcomes }
}

type Reader = { readonly source: EventSource; readonly normalise: Normaliser }

/** A source with an invalid configuration fails all of its deliveries, each with the reason. */
async function createReaders(trx: Trx, keys: readonly string[]): Promise<Map<string, Reader>> {
  const rows = await listSources(trx, keys)
  return new Map(
    rows.map(({ key, kind, settings, place }) => {
      const failing = (error: unknown): Reader => ({
        source: { key, defaults: {} },
        normalise: () => {
          throw error
        },
      })
      const detector = sourceOfKind(kind)
      if (!detector) return [key, failing(new NormaliseError('kind', `${kind} is unknown`))] as const
      try {
        const normalise = detector.createNormaliser(settings)
        return [key, { source: { key, defaults: defaultTexts(settings, place) }, normalise }] as const
      } catch (error) {
        return [key, failing(error)] as const
      }
    }),
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseBody(body: Buffer): unknown {
  let text
  try {
    text = utf8.decode(body)
  } catch {
    throw new NormaliseError('', 'the delivery is not UTF-8 text')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NormaliseError('', `the delivery is not JSON: ${(error as Error).message}`)
  }
}

const errorMax = 1_000

/** A defect of Pharos is recorded like an error of the sender: the delivery is kept and can be replayed after a fix. */
function errorText(error: unknown): string {
  const text = error instanceof NormaliseError ? error.message : `a defect of Pharos: ${String(error)}`
  return cleanText(text, errorMax)
}

/** Returns the number of events written. */
async function mergeObservations(
  trx: Trx,
  ownershipCache: OwnershipCache,
  observations: readonly SourcedObservation[],
): Promise<number> {
  const byEvent = Map.groupBy(observations, ({ source, observation }) =>
    eventId(source.key, observation.sourceEventId),
  )
  if (byEvent.size === 0) return 0
  // The lock order everywhere: ownership, events by id, teams.
  const ownership = await ownershipCache.lock(trx)
  const locked = new Map(
    (await lockEvents(trx, [...byEvent.keys()].toSorted())).map((known) => [known.event.id, known]),
  )
  const inserted: Event[] = []
  const saved: Event[] = []
  const several: Event[] = []
  for (const [id, ofEvent] of byEvent) {
    const known = locked.get(id)
    const merged = ofEvent.reduce<Event | undefined>(
      (event, { source, observation }) => mergeObservation(event, observation, source),
      known?.isRebuilt ? undefined : known?.event,
    )!
    const event = known ? { ...merged, hasAttachment: known.event.hasAttachment } : merged
    if (!known) inserted.push(event)
    else if (known.isRebuilt || !isSame(known.event, event)) saved.push(event)
    else continue
    if (event.parsedData.networks ?? known?.event.parsedData.networks) several.push(event)
  }
  const written = await insertEvents(trx, inserted)
  if (written.size < inserted.length) throw new EventsAppeared()
  await saveEvents(trx, saved)
  await saveEventNetworks(trx, several)
  await relateEvents(trx, [...inserted, ...saved], ownership, { isObserved: true })
  return inserted.length + saved.length
}

function isSame(a: Event, b: Event): boolean {
  const { parsedData: parsedA, mergeState: stateA, ...fieldsA } = a
  const { parsedData: parsedB, mergeState: stateB, ...fieldsB } = b
  // Most updates change a field, which is compared first; jsonb reorders the keys of the rest.
  return (
    canonicalText(fieldsA) === canonicalText(fieldsB) &&
    canonicalText(stateA) === canonicalText(stateB) &&
    canonicalText(parsedA) === canonicalText(parsedB)
  )
}

/** Converts times to text first, as JSON does. */
function canonicalText(value: object): string {
  return canonicalJson(JSON.parse(JSON.stringify(value)) as Json)
}

/** SQLSTATE classes: data exception, integrity violation, program limit exceeded. */
function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^(22|23|54)...$/.test(code)
}

/** PostgreSQL rejected the result of this delivery: it is kept as failed, since it would block all later ones. */
async function quarantine(postgres: Postgres, { id }: Delivery, error: unknown): Promise<IngestReport> {
  await postgres.owner.transaction().execute((trx) => saveOutcomes(trx, [{ id, error: errorText(error) }]))
  return { done: 0, failed: 1, events: 0 }
}
