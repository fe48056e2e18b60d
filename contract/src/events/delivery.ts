// Deliveries of detectors and their sources, as the operator's staff see them: what became of each delivery.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { DeliveryNote } from './delivery-note.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'

/**
 * `new`: stored, not processed yet. `done`: read completely. `partial`: some events of a batch could not be read. `failed`:
 * no event could be read.
 */
export const ingestStates = ['new', 'done', 'partial', 'failed'] as const
export type IngestState = (typeof ingestStates)[number]

const State = Enumeration('IngestDeliveryState', ingestStates)

const delivery = {
  id: { ...Id, description: 'id of the delivery' },
  delivery_id: Type.String({ description: 'as returned to the sender' }),
  source_key: Type.String({ description: 'key of the source' }),
  received: { ...Time, description: 'when it was received' },
  content_type: Nullable(
    Type.String({ description: 'media type that the sender named; null if it named none' }),
  ),
  bytes: Type.Integer({ minimum: 0, description: 'size of the body' }),
  state: { ...State, description: 'what became of it' },
  error: Nullable(
    Type.String({ description: 'the first error, with its place in the delivery; null if there is none' }),
  ),
  processed: { ...NullableTime, description: 'when it was processed; null before' },
  event_count: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'events that the delivery created or updated; null before it is processed',
    }),
  ),
  note_count: Type.Integer({ minimum: 0, description: 'number of notes' }),
}

export const IngestDelivery = Component('IngestDelivery', delivery)
export type IngestDelivery = Static<typeof IngestDelivery>

export const IngestDeliveryDetail = Component('IngestDeliveryDetail', {
  ...delivery,
  notes: Type.Array(DeliveryNote, { description: 'errors first; at most 100' }),
  event_ids: Type.Array(Type.String(), { description: 'ids of its events, at most 1000' }),
  content: Type.String({ description: 'the body as received' }),
  content_encoding: {
    ...Enumeration('DeliveryContentEncoding', ['utf-8', 'base64']),
    description: 'encoding of `content`: `base64` if the body is not UTF-8 text',
  },
})
export type IngestDeliveryDetail = Static<typeof IngestDeliveryDetail>

/** Counts of deliveries are exact up to this number. */
export const recentDeliveriesMax = 10_000

export const DetectorSource = Component('DetectorSource', {
  key: Type.String({ description: 'key of the source, unique' }),
  kind: Type.String({ description: 'kind of detector, such as `fastnetmon`' }),
  name: Type.String({ description: 'name for people' }),
  failing: Type.Boolean({
    description: 'whether the last processed delivery could not be read, completely or in part',
  }),
  last_delivery: {
    ...NullableTime,
    description: 'when the last delivery was received; null if none is stored',
  },
  last_success: Nullable(
    Type.String({
      format: 'date-time',
      description: 'last delivery that was read completely; null if none is stored',
    }),
  ),
  last_failure: Nullable(
    Component(
      'FailedDelivery',
      {
        id: { ...Id, description: 'id of the delivery' },
        received: { ...Time, description: 'when it was received' },
        state: { ...State, description: '`failed` or `partial`' },
        error: Nullable(Type.String({ description: 'the first error, with its place in the delivery' })),
      },
      {
        description:
          'the last delivery that could not be read, completely or in part; null if none is stored',
      },
    ),
  ),
  waiting: Type.Integer({ minimum: 0, description: 'deliveries that are not processed yet' }),
  deliveries_24h: Type.Integer({
    minimum: 0,
    description: `deliveries of the last 24 hours; ${recentDeliveriesMax} means that many or more`,
  }),
  failures_24h: Type.Integer({
    minimum: 0,
    description: 'those of them that could not be read, completely or in part; with the same limit',
  }),
})
export type DetectorSource = Static<typeof DetectorSource>

const DeliveryId = Type.String({ minLength: 1, maxLength: 200, description: 'as returned to the sender' })
const SourceKey = Type.String({ minLength: 1, maxLength: 100, description: 'the key of a source' })

export const listDeliveriesRoute = route({
  name: 'listDeliveries',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/deliveries',
  summary: 'List deliveries',
  description:
    'The stored deliveries of detectors with what became of them, newest first by default. The window from `start` to ' +
    '`end` selects by the time of receipt, both inclusive.',
  permission: staffReading('operator.see'),
  query: Strict({
    source_key: Optional(Repeatable(SourceKey)),
    delivery_id: Optional(Repeatable(DeliveryId)),
    state: Optional(Repeatable(State)),
    start: Optional({ ...Time, description: 'deliveries received at this time or later' }),
    end: Optional({ ...Time, description: 'deliveries received at this time or before' }),
    ordering: Ordering(['id', 'received'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(IngestDelivery),
  success: 200,
})

export const getDeliveryRoute = route({
  name: 'getDelivery',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/deliveries/{delivery_id}',
  summary: 'Get delivery',
  description:
    'Returns one delivery with its body as received, the events that it created or updated, and notes: what could not be ' +
    'read and was left out, changed or ignored, with its place in the body. `delivery_id` is the one that the sender got with the ' +
    '202, or, if none has it, the `id` of the list. `source_key` is needed only if several sources have a delivery of the same ' +
    'id: without it the answer is then 409.',
  permission: staffReading('operator.see'),
  params: Strict({ delivery_id: DeliveryId }),
  query: Strict({ source_key: Optional(SourceKey) }),
  errors: ['conflict'],
  response: IngestDeliveryDetail,
  success: 200,
  conditional: true,
})

export const listSourcesRoute = route({
  name: 'listSources',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/sources',
  summary: 'List sources',
  description: 'Every configured detector with its last delivery, its last failure and counts.',
  permission: staffReading('operator.see'),
  query: Strict({
    key: Optional(Repeatable(SourceKey)),
    failing: Optional(
      Type.Boolean({
        description: 'whether the last processed delivery could not be read, completely or in part',
      }),
    ),
    ordering: Ordering(['key', 'name', 'last_delivery'], 'key'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(DetectorSource),
  success: 200,
})

export const deliveryRoutes = [listDeliveriesRoute, getDeliveryRoute, listSourcesRoute]
