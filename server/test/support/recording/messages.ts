// Records the examples of webhooks with their deliveries, and of personal notifications.
import { documentedMessages } from '@pharos/contract/examples/webhook-message'
import { admin, eventId, team, web } from '@pharos/contract/examples/world'
import {
  getNotificationSettingsRoute,
  listNotificationsRoute,
  readNotificationsRoute,
  updateNotificationSettingsRoute,
} from '@pharos/contract/messages/notification'
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
} from '@pharos/contract/messages/webhook'
import { sql } from 'kysely'
import { startEndpoint } from '../../../src/drivers/webhook/testing.ts'
import type { Recorder } from './recorder.ts'

const webhookId = 24
const deliveryId = 5_501
const notificationId = 90_211
const webhookIn = { params: { webhook_id: webhookId } }
const deliveryIn = { params: { webhook_id: webhookId, delivery_id: deliveryId } }
const url = 'https://hooks.lindholm.example/pharos'
const secret = 'whsec_RVhBTVBMRS1OT1QtQS1SRUFMLVNFQ1JFVA=='
const sentAt = '2026-04-01T09:21:06.876Z'

/** Calls `use` with settings that allow a receiver on this machine. */
export const withReceiver = (use: (settings: Record<string, string>) => Promise<void>): Promise<void> =>
  use({ PHAROS_WEBHOOK_PORTS_ALLOWED: '1-65535', PHAROS_WEBHOOK_NETWORKS_ALLOWED: '127.0.0.0/8' })

export async function recordMessages(recorder: Recorder): Promise<void> {
  await recordWebhooks(recorder)
  await recordDeliveries(recorder)
  await recordEnd(recorder)
  await recordNotifications(recorder)
}

async function recordWebhooks({ owner, record, replace, at, nextId }: Recorder): Promise<void> {
  await nextId('webhooks', webhookId)
  await at('2026-03-02T08:59:50.410Z')
  const created = await record(createWebhookRoute, {
    body: {
      url,
      description: 'Network desk',
      events: ['announcement.status_changed', 'event.started', 'event.ended'],
    },
  })
  replace(created.secret, secret)
  await sql`update webhooks set last_delivery = ${sentAt}`.execute(owner)
  await at('2026-04-01T11:58:20.000Z')
  await record(listWebhooksRoute, { query: { enabled: true } })
  await record(getWebhookRoute, webhookIn)
}

/** A message was delivered: the row that the sending loop would write. Then a test is sent to a receiver. */
async function recordDeliveries({ owner, record, replace, at, nextId }: Recorder): Promise<void> {
  const type = 'announcement.status_changed'
  const { example } = documentedMessages.find((message) => message.type === type)!
  const attempts = [{ at: sentAt, status: 204, error: null, duration_ms: 84, answer: '' }]
  await nextId('webhook_deliveries', deliveryId)
  await sql`
    insert into webhook_deliveries (webhook_id, team_id, message_id, type, body, state, created, due, step, attempt_count, attempts,
      last_attempt, last_status, duration_ms)
    values (${webhookId}, ${team.id}, 'msg_19d486a5b9a_1e61', ${type}, ${JSON.stringify(example)}, 'delivered',
      '2026-04-01T09:21:06.741Z', '2026-04-01T09:21:06.741Z', 1, 1, ${JSON.stringify(attempts)}, ${sentAt}, 204, 84)`.execute(
    owner,
  )
  await record(listWebhookDeliveriesRoute, { ...webhookIn, query: { state: ['delivered'], limit: 20 } })
  await record(getWebhookDeliveryRoute, deliveryIn)
  await at('2026-04-01T12:00:00.000Z')
  await record(redeliverWebhookRoute, deliveryIn)

  await using receiver = await startEndpoint()
  await sql`update webhooks set url = ${receiver.url}`.execute(owner)
  await at('2026-04-01T12:04:31.220Z')
  const test = await record(testWebhookRoute, webhookIn)
  await sql`update webhooks set url = ${url}`.execute(owner)
  replace(test.message_id, `${test.message_id.slice(0, test.message_id.lastIndexOf('_'))}_5b0e7c21f94a`)
  // With the comma: the number may be the beginning of another one.
  replace(`"duration_ms":${test.duration_ms},`, '"duration_ms":84,')
}

async function recordEnd({ record, replace, at }: Recorder): Promise<void> {
  await at('2026-04-01T12:20:47.905Z')
  const rotated = await record(rotateWebhookSecretRoute, webhookIn)
  replace(rotated.secret, secret)
  await record(updateWebhookRoute, { ...webhookIn, body: { enabled: false } })
  await record(deleteWebhookRoute, webhookIn)
}

async function recordNotifications({ owner, record, at, nextId }: Recorder): Promise<void> {
  const start = '2026-04-01T09:12:40.000Z'
  const attack = {
    event_id: eventId,
    network: web.cidr,
    class: 'udp.amplification.dns',
    bps: 9_500_000_000,
    pps: 812_345,
    start,
    end: null,
  }
  await nextId('notifications', notificationId)
  await sql`
    insert into notifications (user_id, team_id, kind, key, at, attrs)
    values (${admin.id}, ${team.id}, 'attack', ${eventId}, ${start}, ${JSON.stringify(attack)})`.execute(
    owner,
  )
  await at('2026-04-01T12:30:09.140Z')
  await record(listNotificationsRoute, { query: { unread: true } })
  await record(readNotificationsRoute, { body: { up_to: notificationId } })
  const settings = await record(getNotificationSettingsRoute)
  await record(updateNotificationSettingsRoute, {
    body: { ...settings, digest: 'hourly', monthly_report: true },
  })
}
