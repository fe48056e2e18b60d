// The examples of deliveries in the OpenAPI document equal the server's results for their bodies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryValidation } from '@pharos/contract/events/event'
import type { IngestDeliveryDetail } from '@pharos/contract/events/delivery'
import { noteText } from '@pharos/contract/events/delivery-note'
import { examples } from '@pharos/contract/examples/index'
import { renderEvent } from './relate/event-json.ts'
import { mergeObservation } from './event/event.ts'
import { createSourceReader, detectorMessageOf, parseDelivery } from './ingest/parse-delivery.ts'

const place = { name: 'Amsterdam', country: 'NL', timezone: 'Europe/Amsterdam' }

test('the example of a validation', () => {
  const { body, trial } = examples.get('ingestDelivery')!
  const [event] = (trial as DeliveryValidation).events
  const reader = createSourceReader({
    key: 'fastnetmon',
    kind: 'fastnetmon',
    settings: { location: 'ams' },
    place,
  })
  const { observations, ...read } = parseDelivery(
    reader,
    Buffer.from(JSON.stringify(body)),
    new Date(event!.start),
  )
  assert.deepEqual(read, { state: 'done', error: null, notes: [] })
  const [made] = observations.map(({ observation }) =>
    mergeObservation(undefined, observation, reader.source),
  )
  const { id: _, ...rendered } = JSON.parse(`${renderEvent(made!, null)}}`) as Record<string, unknown>
  const { id: __, parsed_data, has_attachment, ...shown } = event!
  assert.deepEqual(shown, rendered)
  assert.deepEqual(
    [parsed_data, has_attachment],
    [{ ...made!.parsedData, source: detectorMessageOf(observations, made!.id) }, made!.hasAttachment],
  )
})

test('the example of a delivery that could not be read', () => {
  const { content, state, error, notes, bytes } = examples.get('getDelivery')!
    .response as unknown as IngestDeliveryDetail
  const reader = createSourceReader({ key: 'sightline', kind: 'sightline', settings: {}, place })
  const read = parseDelivery(reader, Buffer.from(content), new Date())
  const made = read.notes.map((note) => ({ ...note, message: noteText(note) }))
  assert.deepEqual([state, error, notes, bytes], [read.state, read.error, made, content.length])
})
