// Webhooks: what happens is told to an address of the team, by the Standard Webhooks specification. What the messages say is in
// webhook-message.ts.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import {
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
  Component,
  Enumeration,
} from './scalar.ts'
import { Paragraphs } from './text.ts'
import { messageTypes } from './webhook-message.ts'

export const disabledReasons = ['user', 'gone', 'failing'] as const
export type DisabledReason = (typeof disabledReasons)[number]

export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** A message that is sent because somebody asked whether any arrive. */
export const testType = 'webhook.test'
export const sentTypes = [...messageTypes, testType] as const
export type SentType = (typeof sentTypes)[number]

const events = Type.Array(Enumeration('WebhookMessageType', messageTypes), {
  minItems: 1,
  maxItems: messageTypes.length,
  uniqueItems: true,
})

const webhook = {
  id: Id,
  url: Type.String(),
  description: Type.String(),
  events: Type.Array(Enumeration('WebhookMessageType', messageTypes), {
    description: 'the types of messages that are sent',
  }),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(
    Enumeration('WebhookDisabledReason', disabledReasons),
    // `user`: switched off; `gone`: it answered 410; `failing`: nothing was taken for five days.
  ),
  created: Time,
  created_by: Type.String({ description: '`user:<id>` or `token:<id>`' }),
  modified: Time,
  failing_since: NullableTime,
  last_delivery: Nullable(Type.String({ format: 'date-time', description: 'when a message was last taken' })),
}

export const Webhook = Component('Webhook', webhook)
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Component('WebhookWithSecret', {
  ...webhook,
  secret: Type.String({
    description: '`whsec_` and the key of the signatures in base64; shown here and nowhere else',
  }),
})
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

const delivery = {
  id: Id,
  message_id: Type.String({
    description: 'the header `webhook-id`: the same for every attempt and for all webhooks of the team',
  }),
  type: Enumeration('WebhookSentType', sentTypes),
  state: Enumeration('WebhookDeliveryState', deliveryStates),
  created: Time,
  attempt_count: Type.Integer({ minimum: 0 }),
  next_attempt: NullableTime,
  last_attempt: NullableTime,
  last_status: Nullable(Type.Integer({ description: 'of HTTP; null where there was no answer' })),
  last_error: Nullable(Type.String({ description: 'why the last attempt did not count' })),
  duration_ms: Nullable(Type.Integer({ minimum: 0, description: 'of the last attempt' })),
}

export const Delivery = Component('WebhookDelivery', delivery)
export type Delivery = Static<typeof Delivery>

export const DeliveryDetail = Component('WebhookDeliveryDetail', {
  ...delivery,
  payload: Type.Object({}, { additionalProperties: true, description: 'what is sent, to the byte' }),
  attempts: Type.Array(
    Strict({
      at: Time,
      status: Nullable(Type.Integer()),
      error: Nullable(Type.String()),
      duration_ms: Type.Integer({ minimum: 0 }),
      answer: Type.String({ description: 'the beginning of the body of the answer' }),
    }),
    { description: 'the last twenty, oldest first' },
  ),
})
export type DeliveryDetail = Static<typeof DeliveryDetail>

const reading = { credential: 'any', scope: 'webhooks:read' } as const
const changing = { credential: 'any', scope: 'webhooks:write', role: 'admin' } as const
const params = Strict({ webhook_id: Id })
const deliveryParams = Strict({ webhook_id: Id, delivery_id: Id })

const Url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'https://, a host of the public internet, no credentials',
})
const Description = Paragraphs({ maxLength: 500 })

export const listWebhooksRoute = route({
  name: 'listWebhooks',
  group: 'Webhooks',
  method: 'GET',
  path: '/v3/webhooks',
  summary: 'List webhooks',
  description: 'The webhooks of the team, never with their secrets.',
  permission: reading,
  query: Strict({
    enabled: Optional(Type.Boolean()),
    ordering: Ordering(['id', 'created', 'url'], 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Webhook),
  success: 200,
})

export const getWebhookRoute = route({
  name: 'getWebhook',
  group: 'Webhooks',
  method: 'GET',
  path: '/v3/webhooks/{webhook_id}',
  summary: 'Get webhook',
  description: 'One webhook of the team, never with its secret.',
  permission: reading,
  params,
  response: Webhook,
  success: 200,
  conditional: true,
})

export const createWebhookRoute = route({
  name: 'createWebhook',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks',
  summary: 'Create webhook',
  description:
    'From now on, what happens is sent to the URL as a signed POST (Standard Webhooks, HMAC-SHA256). `secret` checks the ' +
    'signatures; it is shown in this answer and in no other. Messages may come more than once and in any order; ' +
    '`webhook-id` tells one that was seen. An answer of 2xx within 15 s takes a message, anything else is tried again over ' +
    'three days.',
  permission: changing,
  body: Strict({ url: Url, description: Optional(Description), events }),
  response: WebhookWithSecret,
  success: 201,
  errors: ['quota_exceeded'],
  conditional: true,
})

export const updateWebhookRoute = route({
  name: 'updateWebhook',
  group: 'Webhooks',
  method: 'PATCH',
  path: '/v3/webhooks/{webhook_id}',
  summary: 'Update webhook',
  description:
    'Changes the fields that are named. Disabling cancels what is still to be sent; enabling begins with what happens from ' +
    'then on, whatever had disabled it.',
  permission: changing,
  params,
  body: Strict({
    url: Optional(Url),
    description: Optional(Description),
    events: Optional(events),
    enabled: Optional(Type.Boolean()),
  }),
  response: Webhook,
  success: 200,
  conditional: true,
})

export const deleteWebhookRoute = route({
  name: 'deleteWebhook',
  group: 'Webhooks',
  method: 'DELETE',
  path: '/v3/webhooks/{webhook_id}',
  summary: 'Delete webhook',
  description: 'With its deliveries; what is still to be sent is not.',
  permission: changing,
  params,
  success: 204,
  conditional: true,
})

export const rotateWebhookSecretRoute = route({
  name: 'rotateWebhookSecret',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks/{webhook_id}/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description:
    'A new secret, shown in this answer and in no other. For 24 hours the one before signs as well, so that the receiver ' +
    'can change over without losing a message; rotating again within that time ends the older one at once.',
  permission: changing,
  params,
  response: WebhookWithSecret,
  success: 200,
  conditional: true,
})

export const testWebhookRoute = route({
  name: 'testWebhook',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks/{webhook_id}/test',
  summary: 'Test webhook',
  description:
    'Sends a message of type `webhook.test` at once, also to one that is disabled, and answers with what became of it: the ' +
    'answer takes as long as the receiver, at most 15 s. It is sent once, and counts for nothing else.',
  permission: changing,
  params,
  response: DeliveryDetail,
  success: 200,
})

export const listWebhookDeliveriesRoute = route({
  name: 'listWebhookDeliveries',
  group: 'Webhooks',
  method: 'GET',
  path: '/v3/webhooks/{webhook_id}/deliveries',
  summary: 'List the deliveries of a webhook',
  description: 'Newest first. Kept for 30 days.',
  permission: reading,
  params,
  query: Strict({
    state: Optional(Repeatable(Enumeration('WebhookDeliveryState', deliveryStates))),
    type: Optional(Repeatable(Enumeration('WebhookSentType', sentTypes))),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Delivery),
  success: 200,
})

export const getWebhookDeliveryRoute = route({
  name: 'getWebhookDelivery',
  group: 'Webhooks',
  method: 'GET',
  path: '/v3/webhooks/{webhook_id}/deliveries/{delivery_id}',
  summary: 'Get delivery',
  description: 'One delivery with what is sent and with its attempts.',
  permission: reading,
  params: deliveryParams,
  response: DeliveryDetail,
  success: 200,
})

export const redeliverWebhookRoute = route({
  name: 'redeliverWebhook',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
  summary: 'Deliver again',
  description:
    'Sends the same message again, with the same `webhook-id`, whatever became of it; one that waits is sent at once. ' +
    '409 `conflict` while the webhook is disabled.',
  permission: changing,
  params: deliveryParams,
  response: DeliveryDetail,
  success: 202,
  errors: ['conflict'],
})

export const webhookRoutes = [
  listWebhooksRoute,
  getWebhookRoute,
  createWebhookRoute,
  updateWebhookRoute,
  deleteWebhookRoute,
  rotateWebhookSecretRoute,
  testWebhookRoute,
  listWebhookDeliveriesRoute,
  getWebhookDeliveryRoute,
  redeliverWebhookRoute,
]
