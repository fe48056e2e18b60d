// Examples of deliveries of detectors and their sources, for the provider's staff.
import {
  getDeliveryRoute,
  listDeliveriesRoute,
  listSourcesRoute,
  type DetectorSource,
  type IngestDelivery,
} from '../events/delivery.ts'
import { noteFragment, noteText, type StoredNote } from '../events/delivery-note.ts'
import { example } from '../example.ts'
import { fastnetmonDelivery } from './world.ts'

/** Sent as a form, because the notification was not configured for JSON. */
const unreadable = 'alert=88&status=Ongoing&host=203.0.113.77'
const note: StoredNote = {
  severity: 'error',
  code: 'not_json',
  place: '',
  attrs: { detail: `Unexpected token 'a', "alert=88&s"... is not valid JSON` },
}

const failed: IngestDelivery = {
  id: 66_154,
  delivery_id: '29f4c1b7-8e0d-4a5c-93c6-1d7be2a4f083',
  source_key: 'sightline',
  received: '2026-04-01T08:03:02.771Z',
  content_type: 'application/x-www-form-urlencoded',
  bytes: unreadable.length,
  state: 'failed',
  error: noteFragment(note.code, note.attrs),
  processed: '2026-04-01T08:03:02.790Z',
  event_count: 0,
  note_count: 1,
}
const done: IngestDelivery = {
  id: 66_120,
  delivery_id: fastnetmonDelivery.delivery_id,
  source_key: 'fastnetmon',
  received: '2026-04-01T03:12:09.120Z',
  content_type: 'application/json',
  bytes: JSON.stringify(fastnetmonDelivery.body).length,
  state: 'done',
  error: null,
  processed: '2026-04-01T03:12:09.141Z',
  event_count: 1,
  note_count: 0,
}

const fastnetmon: DetectorSource = {
  key: 'fastnetmon',
  kind: 'fastnetmon',
  name: 'FastNetMon Amsterdam',
  failing: false,
  last_delivery: '2026-04-01T03:31:44.870Z',
  last_success: '2026-04-01T03:31:44.870Z',
  last_failure: null,
  waiting: 0,
  deliveries_24h: 3,
  failures_24h: 0,
}
const sightline: DetectorSource = {
  key: 'sightline',
  kind: 'sightline',
  name: 'Arbor Sightline',
  failing: true,
  last_delivery: failed.received,
  last_success: '2026-03-31T21:47:15.062Z',
  last_failure: { id: failed.id, received: failed.received, state: failed.state, error: failed.error },
  waiting: 0,
  deliveries_24h: 12,
  failures_24h: 1,
}

export const deliveryExamples = [
  example(listDeliveriesRoute, {
    query: { start: '2026-04-01T00:00:00Z', ordering: '-received', limit: 100 },
    response: { results: [failed, done], count: 2 },
  }),
  example(getDeliveryRoute, {
    params: { delivery_id: failed.delivery_id },
    response: {
      ...failed,
      notes: [{ ...note, message: noteText(note) }],
      event_ids: [],
      content: unreadable,
      content_encoding: 'utf-8',
    },
  }),
  example(listSourcesRoute, {
    query: { ordering: 'key', limit: 100 },
    response: { results: [fastnetmon, sightline], count: 2 },
  }),
]
