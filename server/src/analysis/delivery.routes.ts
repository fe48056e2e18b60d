// HTTP route of deliveries.
import { ingestDeliveryRoute } from '@pharos/contract/analysis'
import { handleRaw, type Mounted, type Request } from '../http/mount.ts'
import { receiveDelivery, type DeliveryDeps } from './delivery.ts'

export const deliveryRoutes = (deps: DeliveryDeps): Mounted[] => [
  handleRaw(ingestDeliveryRoute, ingestDelivery, deps),
]

type Delivery = Omit<Request<typeof ingestDeliveryRoute>, 'body'> & { readonly body: Buffer }

const ingestDelivery = (deps: DeliveryDeps, { params, query, headers, body }: Delivery) =>
  receiveDelivery(deps, {
    sourceKey: params.source_key,
    authorization: headers.authorization,
    token: query.token,
    deliveryId: singleHeader(headers['idempotency-key']) ?? singleHeader(headers['webhook-id']),
    contentType: headers['content-type'],
    body,
  })

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
