// Validates a delivery: parses it as the ingest loop would, without storing it, and returns the resulting events.
import {
  validatedEventsMax,
  type DeliveryValidation,
  type RelatedEventDetail,
} from '@pharos/contract/events/event'
import { noteText } from '@pharos/contract/events/delivery-note'
import { checkSource, type EventDeliveryDeps, type DeliveryRequest } from './delivery.ts'
import { renderEvent } from '../relate/event-json.ts'
import { mergeObservation, type Event } from '../event/event.ts'
import { createSourceReader, detectorMessageOf, parseDelivery } from './parse-delivery.ts'
import type { JsonObject } from '../event/json.ts'
import { listSourceRows } from './source.store.ts'

export async function validateDelivery(
  { postgres, keys }: EventDeliveryDeps,
  request: DeliveryRequest,
): Promise<DeliveryValidation> {
  await checkSource(postgres, keys, request)
  const [row] = await listSourceRows(postgres.front, [request.sourceKey])
  const reader = createSourceReader(row!)
  const { state, error, notes, observations } = parseDelivery(reader, request.body, new Date())
  const events = new Map<string, Event>()
  for (const { eventId, observation } of observations) {
    events.set(eventId, mergeObservation(events.get(eventId), observation, reader.source))
  }
  return {
    validated: true,
    state,
    error,
    notes: notes.map((note) => ({ ...note, message: noteText(note) })),
    event_count: events.size,
    events: [...events.values()]
      .slice(0, validatedEventsMax)
      .map((event) => detailOf(event, detectorMessageOf(observations, event.id))),
  }
}

/** The event in the form of the API. */
function detailOf(event: Event, source: JsonObject | undefined): RelatedEventDetail {
  const record = JSON.parse(`${renderEvent(event, null)}}`) as RelatedEventDetail
  const parsed = source === undefined ? event.parsedData : { ...event.parsedData, source }
  return { ...record, parsed_data: parsed, has_attachment: event.hasAttachment }
}
