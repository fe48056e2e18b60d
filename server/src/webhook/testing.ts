// Webhooks and deliveries for tests. Not imported by the product.
import type { DeliveryState } from '@pharos/contract/messages/webhook'
import { messageTypes } from '@pharos/contract/messages/webhook-message'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { createSecret, sealWebhookSecret } from './webhook-secret.ts'

export type WebhookSeed = {
  /** By default an address for documentation, which no message reaches. */
  readonly url?: string
  readonly events?: readonly string[]
  readonly enabled?: boolean
  readonly secret?: Buffer
  readonly id?: number
}

/** Returns its id. */
export async function addWebhook(
  db: Db,
  ring: KeyRing,
  teamId: number,
  {
    url = 'https://192.0.2.7/hook',
    events = messageTypes,
    enabled = true,
    secret = createSecret(),
    id: wanted,
  }: WebhookSeed = {},
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into webhooks (id, team_id, url, events, enabled, disabled_reason, secret_sealed, created_by)
    overriding system value
    values (coalesce(${wanted ?? null}::integer, nextval(pg_get_serial_sequence('webhooks', 'id'))), ${teamId}, ${url},
      ${[...events]}::text[], ${enabled}, ${enabled ? null : 'user'}, '', 'user:1')
    returning id`.execute(db)
  const { id } = rows[0]!
  await db
    .updateTable('webhooks')
    .set({ secret_sealed: sealWebhookSecret(ring, id, secret) })
    .where('id', '=', id)
    .execute()
  return id
}

export type DeliverySeed = {
  readonly state?: DeliveryState
  readonly type?: string
  readonly messageId?: string
  readonly step?: number
  readonly body?: string
  readonly id?: number
}

/** Inserts a delivery of the webhook, due now; returns its id. */
export async function addDelivery(
  db: Db,
  webhookId: number,
  {
    state = 'pending',
    type = 'event.started',
    messageId,
    step = 0,
    body = '{"type":"event.started","data":{}}',
    id: wanted,
  }: DeliverySeed = {},
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into webhook_deliveries (id, webhook_id, team_id, message_id, type, body, state, step)
    overriding system value
    select coalesce(${wanted ?? null}::bigint, nextval(pg_get_serial_sequence('webhook_deliveries', 'id'))), id, team_id, coalesce(${messageId ?? null}::text, 'msg_' || gen_random_uuid()), ${type}, ${body}, ${state},
      ${step}::integer
    from webhooks where id = ${webhookId} returning id`.execute(db)
  return rows[0]!.id
}
