// Deliveries and sources for the operator's staff: the result of each delivery, and failing detectors.
import type {
  DetectorSource,
  IngestDelivery,
  IngestDeliveryDetail,
  getDeliveryRoute,
  listDeliveriesRoute,
  listSourcesRoute,
} from '@pharos/contract/events/delivery'
import { noteText } from '@pharos/contract/events/delivery-note'
import type { QueryOf, ResponseOf } from '@pharos/contract/route'
import type { StaffOperation } from '../../operation/operation.ts'
import { fail, notFound } from '../../runtime/error.ts'
import {
  findSourceDelivery,
  findSentDeliveries,
  listEventDeliveryRows,
  type EventDeliveryRow,
} from './delivery.store.ts'
import type { EventDeliveryDeps } from './delivery.ts'
import { listSourcePage } from './source-list.store.ts'

/** Returns a page of the deliveries of all sources, and the exact count. */
export async function listEventDeliveries(
  { postgres }: EventDeliveryDeps,
  _operation: StaffOperation,
  query: QueryOf<typeof listDeliveriesRoute>,
): Promise<ResponseOf<typeof listDeliveriesRoute>> {
  const { page, count } = await listEventDeliveryRows(postgres.owner, query)
  return { results: page.map(deliveryOf), count }
}

const deliveryOf = ({ received, processed, ...row }: EventDeliveryRow): IngestDelivery => ({
  ...row,
  received: received.toISOString(),
  processed: processed?.toISOString() ?? null,
})

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The id of a row, as the list has it. */
const isRowId = (text: string): boolean => /^[1-9][0-9]{0,14}$/.test(text)

/**
 * Returns a delivery with its body, events and notes. The id is the sender's; that of the row is tried next. Throws `not_found`, and
 * `conflict` if several sources have sent the id.
 */
export async function getEventDelivery(
  { postgres }: EventDeliveryDeps,
  _operation: StaffOperation,
  deliveryId: string,
  { source_key: source }: QueryOf<typeof getDeliveryRoute>,
): Promise<ResponseOf<typeof getDeliveryRoute>> {
  const sent = await findSentDeliveries(postgres.owner, deliveryId, source)
  if (sent.length > 1)
    throw fail('conflict', 'severalDeliveries', { sources: sent.map(({ source_key }) => source_key) })
  const row =
    sent[0] ??
    (isRowId(deliveryId) ? await findSourceDelivery(postgres.owner, Number(deliveryId), source) : undefined)
  if (!row) throw notFound('delivery')
  const { body, notes, event_ids, ...rest } = row
  return {
    ...deliveryOf(rest),
    notes: notes.map((note) => ({ ...note, message: noteText(note) })),
    event_ids,
    ...contentOf(body),
  }
}

function contentOf(body: Buffer): Pick<IngestDeliveryDetail, 'content' | 'content_encoding'> {
  try {
    return { content: utf8.decode(body), content_encoding: 'utf-8' }
  } catch {
    return { content: body.toString('base64'), content_encoding: 'base64' }
  }
}

/** Returns a page of the configured sources with the state of their deliveries, and the exact count. */
export async function listDetectorSources(
  { postgres }: EventDeliveryDeps,
  _operation: StaffOperation,
  query: QueryOf<typeof listSourcesRoute>,
): Promise<ResponseOf<typeof listSourcesRoute>> {
  const { page, count } = await listSourcePage(postgres.owner, query)
  const results = page.map(({ last_delivery, last_success, last_failure, ...row }): DetectorSource => ({
    ...row,
    last_delivery: last_delivery?.toISOString() ?? null,
    last_success: last_success?.toISOString() ?? null,
    last_failure: last_failure && {
      ...last_failure,
      received: new Date(last_failure.received).toISOString(),
    },
  }))
  return { results, count }
}
