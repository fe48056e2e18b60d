// HTTP routes of deliveries, and of the sources that send them.
import { ingestDeliveryRoute } from '@pharos/contract/events/event'
import { getDeliveryRoute, listDeliveriesRoute, listSourcesRoute } from '@pharos/contract/events/delivery'
import { addEventAttachmentRoute } from '@pharos/contract/events/event-attachment'
import { handleRaw, handleStaff, type Mounted, type Request } from '../http/mount.ts'
import { receiveEventFile } from './attachment/event-attachment.ts'
import { getEventDelivery, listEventDeliveries, listDetectorSources } from './ingest/delivery-list.ts'
import { receiveDelivery, type EventDeliveryDeps } from './ingest/delivery.ts'
import { validateDelivery } from './ingest/validate-delivery.ts'

export const deliveryRoutes = (deps: EventDeliveryDeps): Mounted[] => [
  handleRaw(ingestDeliveryRoute, ingestDelivery, deps),
  handleRaw(addEventAttachmentRoute, addEventAttachment, deps),
  handleStaff(listDeliveriesRoute, listEventDeliveries, deps),
  handleStaff(getDeliveryRoute, getEventDelivery, deps),
  handleStaff(listSourcesRoute, listDetectorSources, deps),
]

type Delivery = Omit<Request<typeof ingestDeliveryRoute>, 'body'> & { readonly body: Buffer }

async function ingestDelivery(deps: EventDeliveryDeps, { params, query, headers, body }: Delivery) {
  const request = {
    sourceKey: params.source_key,
    authorization: headers.authorization,
    token: query.token,
    deliveryId: singleHeader(headers['idempotency-key']) ?? singleHeader(headers['webhook-id']),
    contentType: headers['content-type'],
    body,
  }
  if (query.validate !== true) return receiveDelivery(deps, request)
  return { status: 200, body: await validateDelivery(deps, request) }
}

type File = Omit<Request<typeof addEventAttachmentRoute>, 'body'> & { readonly body: Buffer }

const addEventAttachment = (deps: EventDeliveryDeps, { params, query, headers, body }: File) =>
  receiveEventFile(deps, {
    sourceKey: params.source_key,
    sourceEventId: params.source_event_id,
    authorization: headers.authorization,
    token: query.token,
    filename: singleHeader(headers['x-filename']),
    body,
  })

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
