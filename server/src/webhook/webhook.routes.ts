// The HTTP side of webhooks: one line per operation.
import {
  createWebhook as createRoute,
  deleteWebhook as deleteRoute,
  getWebhook as getRoute,
  getWebhookDelivery,
  listWebhookDeliveries,
  listWebhooks as listRoute,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook as updateRoute,
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
    handle(listRoute, async (operation, { query }) => {
      const body = await listWebhooks(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getRoute, (operation, { params }) => getWebhook(deps, operation, params.webhook_id)),
    handle(createRoute, (operation, { body }) => createWebhook(deps, operation, body)),
    handle(updateRoute, (operation, { params, body }) =>
      updateWebhook(deps, operation, params.webhook_id, body),
    ),
    handle(deleteRoute, async (operation, { params }) => {
      await deleteWebhook(deps, operation, params.webhook_id)
      return {}
    }),
    handle(rotateWebhookSecret, (operation, { params }) => rotateSecret(deps, operation, params.webhook_id)),
    handle(testWebhook, async (operation, { params }) => ({
      body: await sendTest(deps, operation, params.webhook_id),
    })),
    handle(listWebhookDeliveries, async (operation, { params, query }) => {
      const body = await listDeliveries(deps, operation, params.webhook_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getWebhookDelivery, async (operation, { params }) => ({
      body: await getDelivery(deps, operation, params.webhook_id, params.delivery_id),
    })),
    handle(redeliverWebhook, async (operation, { params }) => ({
      body: await redeliver(deps, operation, params.webhook_id, params.delivery_id),
    })),
  ]
}
