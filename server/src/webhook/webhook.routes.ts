// The HTTP side of webhooks: one line per operation.
import {
  createWebhookRoute,
  deleteWebhookRoute,
  getWebhookRoute,
  getWebhookDeliveryRoute,
  listWebhookDeliveriesRoute,
  listWebhooksRoute,
  redeliverWebhookRoute,
  rotateWebhookSecretRoute,
  testWebhookRoute,
  updateWebhookRoute,
} from '@pharos/contract/webhook'
import { handle, type Mounted } from '../http/mount.ts'
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
  type ChangeDeps,
} from './change-webhook.ts'
import { getDelivery, listDeliveries, redeliver, sendTest, type DeliveryDeps } from './delivery.ts'
import { getWebhook, listWebhooks } from './webhook.ts'

export function webhookRoutes(deps: ChangeDeps & DeliveryDeps): Mounted[] {
  return [
    handle(listWebhooksRoute, async (operation, { query }) => {
      const body = await listWebhooks(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getWebhookRoute, (operation, { params }) => getWebhook(deps, operation, params.webhook_id)),
    handle(createWebhookRoute, (operation, { body }) => createWebhook(deps, operation, body)),
    handle(updateWebhookRoute, (operation, { params, body }) =>
      updateWebhook(deps, operation, params.webhook_id, body),
    ),
    handle(deleteWebhookRoute, async (operation, { params }) => {
      await deleteWebhook(deps, operation, params.webhook_id)
      return {}
    }),
    handle(rotateWebhookSecretRoute, (operation, { params }) =>
      rotateSecret(deps, operation, params.webhook_id),
    ),
    handle(testWebhookRoute, async (operation, { params }) => ({
      body: await sendTest(deps, operation, params.webhook_id),
    })),
    handle(listWebhookDeliveriesRoute, async (operation, { params, query }) => {
      const body = await listDeliveries(deps, operation, params.webhook_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getWebhookDeliveryRoute, async (operation, { params }) => ({
      body: await getDelivery(deps, operation, params.webhook_id, params.delivery_id),
    })),
    handle(redeliverWebhookRoute, async (operation, { params }) => ({
      body: await redeliver(deps, operation, params.webhook_id, params.delivery_id),
    })),
  ]
}
