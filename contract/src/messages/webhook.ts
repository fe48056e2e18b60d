// Webhooks: messages to a URL of the team, by the Standard Webhooks specification. The messages are in webhook-message.ts.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from '../route.ts'
import {
  Actor,
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
} from '../scalar.ts'
import { Paragraphs } from '../text.ts'
import { messageTypes } from './webhook-message.ts'

export const disabledReasons = ['user', 'gone', 'failing'] as const
export type DisabledReason = (typeof disabledReasons)[number]

export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** The type of a test message. */
export const testType = 'webhook.test'
export const sentTypes = [...messageTypes, testType] as const
export type SentType = (typeof sentTypes)[number]

const events = Type.Array(Enumeration('WebhookMessageType', messageTypes), {
  minItems: 1,
  maxItems: messageTypes.length,
  uniqueItems: true,
})

const webhook = {
  id: { ...Id, description: 'id of the record' },
  url: Type.String({ description: 'where messages are sent' }),
  description: Type.String({ description: 'text of the team' }),
  events: Type.Array(Enumeration('WebhookMessageType', messageTypes), {
    description: 'types of messages to send',
  }),
  enabled: Type.Boolean({ description: 'whether messages are sent' }),
  disabled_reason: Nullable(
    Enumeration('WebhookDisabledReason', disabledReasons),
    // `user`: disabled by a user; `gone`: it answered 410; `failing`: no successful delivery for five days.
  ),
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
  modified: { ...Time, description: 'when it was last changed' },
  failing_since: {
    ...NullableTime,
    description: 'since when no delivery was successful; null if the last one was',
  },
  last_delivery: Nullable(Type.String({ format: 'date-time', description: 'last successful delivery' })),
}

export const Webhook = Component('Webhook', webhook)
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Component('WebhookWithSecret', {
  ...webhook,
  secret: Type.String({
    description: '`whsec_` and the signing key in base64; shown only here',
  }),
})
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

const delivery = {
  id: { ...Id, description: 'id of the record' },
  message_id: Type.String({
    description: 'the header `webhook-id`: the same for every attempt and for all webhooks of the team',
  }),
  type: { ...Enumeration('WebhookSentType', sentTypes), description: 'type of the message' },
  state: { ...Enumeration('WebhookDeliveryState', deliveryStates), description: 'state of the delivery' },
  created: { ...Time, description: 'when it was created' },
  attempt_count: Type.Integer({ minimum: 0, description: 'number of attempts so far' }),
  next_attempt: { ...NullableTime, description: 'when it is sent again; null if it is not' },
  last_attempt: { ...NullableTime, description: 'time of the last attempt' },
  last_status: Nullable(Type.Integer({ description: 'HTTP status; null if there was no answer' })),
  last_error: Nullable(Type.String({ description: 'reason why the last attempt failed' })),
  duration_ms: Nullable(Type.Integer({ minimum: 0, description: 'duration of the last attempt' })),
}

export const Delivery = Component('WebhookDelivery', delivery)
export type Delivery = Static<typeof Delivery>

export const DeliveryDetail = Component('WebhookDeliveryDetail', {
  ...delivery,
  payload: Type.Record(Type.String(), Type.Unknown(), { description: 'body of the message, byte for byte' }),
  attempts: Type.Array(
    Component('WebhookDeliveryAttempt', {
      at: { ...Time, description: 'time of the attempt' },
      status: Nullable(Type.Integer({ description: 'HTTP status; null if there was no answer' })),
      error: Nullable(Type.String({ description: 'reason why it failed; null if it did not' })),
      duration_ms: Type.Integer({ minimum: 0, description: 'duration in milliseconds' }),
      answer: Type.String({ description: "beginning of the answer's body" }),
    }),
    { description: 'the last twenty, oldest first' },
  ),
})
export type DeliveryDetail = Static<typeof DeliveryDetail>

const reading = { credential: 'any', scope: 'webhooks:read', grant: 'webhooks.see' } as const
const changing = { credential: 'any', scope: 'webhooks:write', grant: 'webhooks.manage' } as const
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
  description: 'The webhooks of the team, without their secrets.',
  permission: reading,
  query: Strict({
    enabled: Optional(Type.Boolean({ description: 'whether messages are sent' })),
    url: Optional(Type.String({ minLength: 1, maxLength: 2000, description: 'exactly this URL' })),
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
  description: 'Returns one webhook of the team, without its secret.',
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
    'Sends messages from now on to the URL as signed POST requests (Standard Webhooks, HMAC-SHA256). ' +
    '`secret` verifies the signatures and is shown only in this answer. Messages may arrive more than once ' +
    'and in any order; `webhook-id` identifies a message. A 2xx answer within 15 s confirms a message; other ' +
    'answers cause retries for three days. Several webhooks may have the same URL: each gets its own messages and has its own ' +
    'secret.',
  permission: changing,
  body: Strict({ url: Url, description: Optional(Description), events }),
  response: WebhookWithSecret,
  success: 201,
  creates: getWebhookRoute,
  secret: true,
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
    'Changes the given fields. Disabling cancels pending deliveries. Enabling starts with messages from then ' +
    'on.',
  permission: changing,
  params,
  body: Strict({
    url: Optional(Url),
    description: Optional(Description),
    events: Optional(events),
    enabled: Optional(Type.Boolean({ description: 'whether messages are sent' })),
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
  description: 'Deletes the webhook and its deliveries, including pending ones.',
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
    'Creates a new secret, shown only in this answer. For 24 hours messages are signed with both secrets, so ' +
    'that the receiver can be updated. Rotating again within that time ends the first one at once.',
  permission: changing,
  params,
  response: WebhookWithSecret,
  success: 200,
  secret: true,
  conditional: true,
})

export const testWebhookRoute = route({
  name: 'testWebhook',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks/{webhook_id}/test',
  summary: 'Test webhook',
  description:
    'Sends a message of type `webhook.test` at once, also to a disabled webhook, and returns the result; the ' +
    'call takes as long as the receiver, at most 15 s. It is not retried and does not affect the state of ' +
    'the webhook.',
  permission: changing,
  params,
  response: DeliveryDetail,
  success: 200,
})

const deliveryOrderings = ['id', 'created', 'type', 'state', 'attempt_count', 'last_attempt'] as const

export const listWebhookDeliveriesRoute = route({
  name: 'listWebhookDeliveries',
  group: 'Webhooks',
  method: 'GET',
  path: '/v3/webhooks/{webhook_id}/deliveries',
  summary: 'List the deliveries of a webhook',
  description: 'The deliveries of a webhook, newest first by default. Deliveries are kept for 30 days.',
  permission: reading,
  params,
  query: Strict({
    state: Optional(Repeatable(Enumeration('WebhookDeliveryState', deliveryStates))),
    type: Optional(Repeatable(Enumeration('WebhookSentType', sentTypes))),
    ordering: Ordering(deliveryOrderings, '-id'),
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
  description: 'Returns one delivery with its message and attempts.',
  permission: reading,
  params: deliveryParams,
  response: DeliveryDetail,
  success: 200,
  conditional: true,
})

export const redeliverWebhookRoute = route({
  name: 'redeliverWebhook',
  group: 'Webhooks',
  method: 'POST',
  path: '/v3/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
  summary: 'Redeliver a message',
  description:
    'Sends the same message again, with the same `webhook-id`, whatever its state; a pending one is sent at ' +
    'once. Returns 409 `conflict` while the webhook is disabled.',
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
