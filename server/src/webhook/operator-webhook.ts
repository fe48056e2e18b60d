// The operator's own webhook, which the settings define and which belongs to no team. It is a row like webhooks of
// teams, so that it is signed, retried and reported in the same way; it is never disabled, since no operation could
// enable it.
import { operatorMessageTypes } from '@pharos/contract/messages/webhook-message'
import type { Db, Trx } from '../db/postgres.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import {
  deleteOperatorWebhook,
  insertOperatorWebhook,
  lockOperatorWebhook,
  saveOperatorWebhook,
  type OperatorWebhookRow,
} from './operator-webhook.store.ts'
import { openWebhookSecret, sealWebhookSecret } from './webhook-secret.ts'

export type OperatorWebhook = { readonly url: string; readonly secret: Buffer }

/** Updates the row from the settings; without a webhook in them, the row and its deliveries are deleted. */
export async function applyOperatorWebhook(
  db: Db,
  ring: KeyRing,
  settings: OperatorWebhook | undefined,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockOperatorWebhook(trx)
    if (!settings) {
      if (row) await deleteOperatorWebhook(trx)
    } else if (!row || !agrees(ring, row, settings)) await save(trx, ring, row, settings)
  })
}

async function save(
  trx: Trx,
  ring: KeyRing,
  row: OperatorWebhookRow | undefined,
  { url, secret }: OperatorWebhook,
): Promise<void> {
  const id = row?.id ?? (await insertOperatorWebhook(trx, url))
  await saveOperatorWebhook(trx, id, {
    url,
    secret_sealed: sealWebhookSecret(ring, id, secret),
    events: operatorMessageTypes,
  })
}

function agrees(
  ring: KeyRing,
  { id, url, events, secret_sealed }: OperatorWebhookRow,
  settings: OperatorWebhook,
): boolean {
  const hasEvents = operatorMessageTypes.every((type) => events.includes(type))
  if (url !== settings.url || !hasEvents) return false
  try {
    return openWebhookSecret(ring, id, secret_sealed).equals(settings.secret)
  } catch {
    return false
  }
}
