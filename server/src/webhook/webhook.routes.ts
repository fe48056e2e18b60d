// HTTP routes of webhooks: one line per operation.
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
} from '@pharos/contract/messages/webhook'
import { handle, type Mounted } from '../http/mount.ts'
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
  type ChangeDeps,
} from './change-webhook.ts'
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  redeliver,
  sendTest,
  type WebhookDeliveryDeps,
} from './delivery.ts'
import { getWebhook, listWebhooks } from './webhook.ts'

export const webhookRoutes = (deps: ChangeDeps & WebhookDeliveryDeps): Mounted[] => [
  handle(listWebhooksRoute, listWebhooks, deps),
  handle(getWebhookRoute, getWebhook, deps),
  handle(createWebhookRoute, createWebhook, deps),
  handle(updateWebhookRoute, updateWebhook, deps),
  handle(deleteWebhookRoute, deleteWebhook, deps),
  handle(rotateWebhookSecretRoute, rotateSecret, deps),
  handle(testWebhookRoute, sendTest, deps),
  handle(listWebhookDeliveriesRoute, listWebhookDeliveries, deps),
  handle(getWebhookDeliveryRoute, getWebhookDelivery, deps),
  handle(redeliverWebhookRoute, redeliver, deps),
]
