// HTTP of deliveries.
import { ingestDeliveryRoute } from '@pharos/contract/analysis'
import { handleRaw, type Mounted } from '../http/mount.ts'
import { receiveDelivery, type DeliveryDeps } from './delivery.ts'

export function deliveryRoutes(deps: DeliveryDeps): Mounted[] {
  return [
    handleRaw(ingestDeliveryRoute, async ({ params, query, headers, body }) => ({
      body: await receiveDelivery(deps, {
        sourceKey: params.source_key,
        authorization: headers.authorization,
        token: query.token,
        deliveryId: singleHeader(headers['idempotency-key']) ?? singleHeader(headers['webhook-id']),
        contentType: headers['content-type'],
        body,
      }),
    })),
  ]
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
