// Examples of webhooks, their deliveries, and the stream.
import { example } from '../example.ts'
import { followStreamRoute } from '../messages/stream.ts'
import {
  createWebhookRoute,
  deleteWebhookRoute,
  getWebhookDeliveryRoute,
  getWebhookRoute,
  listWebhookDeliveriesRoute,
  listWebhooksRoute,
  redeliverWebhookRoute,
  rotateWebhookSecretRoute,
  testWebhookRoute,
  updateWebhookRoute,
  type Delivery,
  type DeliveryDetail,
  type Webhook,
} from '../messages/webhook.ts'
import { documentedMessages } from './webhook-message.ts'
import { admin } from './world.ts'

const webhook: Webhook = {
  id: 24,
  url: 'https://hooks.lindholm.example/pharos',
  description: 'Network desk',
  events: ['announcement.status_changed', 'event.started', 'event.ended'],
  enabled: true,
  disabled_reason: null,
  created: '2026-03-02T08:59:50.410Z',
  created_by: `user:${admin.id}`,
  modified: '2026-03-02T08:59:50.410Z',
  failing_since: null,
  last_delivery: '2026-04-01T09:21:06.960Z',
}
const secret = 'whsec_RVhBTVBMRS1OT1QtQS1SRUFMLVNFQ1JFVA=='
const webhookIn = { params: { webhook_id: webhook.id } }

const payloadOf = (type: string) =>
  documentedMessages.find((message) => message.type === type)!.example as Record<string, unknown>

const delivery: Delivery = {
  id: 5_501,
  message_id: 'msg_19d486a5b9a_1e61',
  type: 'announcement.status_changed',
  state: 'delivered',
  created: '2026-04-01T09:21:06.741Z',
  attempt_count: 1,
  next_attempt: null,
  last_attempt: '2026-04-01T09:21:06.876Z',
  last_status: 204,
  last_error: null,
  duration_ms: 84,
}
const detail: DeliveryDetail = {
  ...delivery,
  payload: payloadOf(delivery.type),
  attempts: [{ at: '2026-04-01T09:21:06.876Z', status: 204, error: null, duration_ms: 84, answer: '' }],
}
const deliveryIn = { params: { webhook_id: webhook.id, delivery_id: delivery.id } }

export const webhookExamples = [
  example(listWebhooksRoute, { query: { enabled: true }, response: { results: [webhook], count: 1 } }),
  example(getWebhookRoute, { ...webhookIn, response: webhook }),
  example(createWebhookRoute, {
    body: { url: webhook.url, description: webhook.description, events: webhook.events },
    response: { ...webhook, last_delivery: null, secret },
  }),
  example(updateWebhookRoute, {
    ...webhookIn,
    body: { enabled: false },
    response: { ...webhook, enabled: false, disabled_reason: 'user' },
  }),
  example(deleteWebhookRoute, webhookIn),
  example(rotateWebhookSecretRoute, { ...webhookIn, response: { ...webhook, secret } }),
  example(testWebhookRoute, {
    ...webhookIn,
    response: { ...detail, type: 'webhook.test', payload: payloadOf('webhook.test') },
  }),
  example(listWebhookDeliveriesRoute, {
    ...webhookIn,
    query: { state: ['delivered'], limit: 20 },
    response: { results: [delivery], count: 1 },
  }),
  example(getWebhookDeliveryRoute, { ...deliveryIn, response: detail }),
  example(redeliverWebhookRoute, {
    ...deliveryIn,
    response: { ...detail, state: 'pending', next_attempt: '2026-04-01T12:00:00.000Z' },
  }),
  example(followStreamRoute, {
    query: { type: ['event.started', 'event.ended'] },
    events: [
      'retry: 2000',
      '',
      'id: 3f2a9c01.48213.0.1775013120',
      'event: ready',
      'data: {}',
      '',
      'id: 3f2a9c01.48377.912.1775013129',
      'event: event.started',
      `data: ${JSON.stringify(payloadOf('event.started'))}`,
      '',
      '',
    ].join('\n'),
  }),
]
