// Creates and changes webhooks. The secret is returned only in the response that creates it; the copy of that response
// kept for idempotent repeats is sealed, like the secret itself.
import type { MessageType } from '@pharos/contract/messages/webhook-message'
import type { Webhook, WebhookWithSecret } from '@pharos/contract/messages/webhook'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import { fieldsOf } from '../operation/fields.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { cancelDeliveries } from './delivery.store.ts'
import { createSecret, formatSecret, sealWebhookSecret } from './webhook-secret.ts'
import { parseWebhookUrl, type WebhookRules } from './webhook-url.ts'
import {
  countWebhooks,
  deleteWebhookRow,
  insertWebhook,
  lockWebhook,
  replaceSecret,
  saveSecret,
  saveWebhook,
  webhookFields,
  type WebhookRow,
  type WebhookState,
} from './webhook.store.ts'
import { answerWith, presentWebhook, tagOf } from './webhook.ts'

export type ChangeDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  /** Maximum number of webhooks per team. */
  readonly quota: number
  readonly urlRules: WebhookRules
}

/** Hours for which the previous secret still signs. */
const formerHours = 24

export type WantedWebhook = {
  readonly url: string
  readonly description?: string
  readonly events: readonly MessageType[]
}

/** Throws `invalid` and `quota_exceeded`. */
export async function createWebhook(
  { postgres, ring, quota, urlRules }: ChangeDeps,
  operation: Operation,
  { url: text, description = '', events }: WantedWebhook,
): Promise<ChangeAnswer<WebhookWithSecret>> {
  const { teamId } = operation.actor
  const url = parseWebhookUrl(text, urlRules, operation.actor.isStaff)
  const create = async (trx: Trx) => {
    if ((await countWebhooks(trx, teamId)) >= quota)
      throw fail('quota_exceeded', 'webhooks', { limit: quota })
    const created_by = actorName(operation.actor)
    const row = await insertWebhook(trx, teamId, { url, description, events: [...events], created_by })
    const secret = createSecret()
    await saveSecret(trx, teamId, row.id, sealWebhookSecret(ring, row.id, secret))
    await note(trx, operation, row.id, 'create', { after: recordedOf(row) })
    return withSecret(row, secret)
  }
  return runChange(postgres, operation, create, { sealedUnder: ring })
}

const withSecret = (row: WebhookRow, secret: Buffer) => ({
  body: { ...presentWebhook(row), secret: formatSecret(secret) },
  etag: tagOf(row),
})

export type WebhookChange = Partial<WantedWebhook> & { readonly enabled?: boolean }

/** Throws `not_found`, `precondition_failed` and `invalid`. */
export async function updateWebhook(
  { postgres, urlRules }: ChangeDeps,
  operation: Operation,
  id: number,
  { url: text, ...rest }: WebhookChange,
): Promise<ChangeAnswer<Webhook>> {
  const { teamId } = operation.actor
  const url = text === undefined ? undefined : parseWebhookUrl(text, urlRules, operation.actor.isStaff)
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, id)
    const next = applyChange(before, { ...rest, ...(url === undefined ? {} : { url }) })
    if (JSON.stringify(recordedOf(before)) === JSON.stringify(recordedOf(next))) return answerWith(before)
    const isAnew = next.url !== before.url || (next.enabled && !before.enabled)
    const after = await saveWebhook(trx, teamId, id, next, isAnew)
    // Also when it is enabled: a message that was written while it was being disabled would be sent late.
    if (before.enabled !== after.enabled) await cancelDeliveries(trx, id)
    await note(trx, operation, id, 'update', { before: recordedOf(before), after: recordedOf(after) })
    return answerWith(after)
  })
}

/** Returns the webhook with the change. Disabling sets the reason `user`, unless it was disabled for another reason. Pure. */
function applyChange(before: WebhookState, change: WebhookChange): WebhookState {
  const { url, description, events, enabled, disabled_reason } = before
  const next = change.enabled ?? enabled
  return {
    url: change.url ?? url,
    description: change.description ?? description,
    events: [...(change.events ?? events)],
    enabled: next,
    disabled_reason: next ? null : (disabled_reason ?? 'user'),
  }
}

/** Throws `not_found` and `precondition_failed`. */
export async function deleteWebhook(
  { postgres }: ChangeDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, id)
    await deleteWebhookRow(trx, operation.actor.teamId, id)
    await note(trx, operation, id, 'delete', { before: recordedOf(before) })
    return { body: null }
  })
}

/** Throws `not_found`. */
export async function rotateSecret(
  { postgres, ring }: ChangeDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<WebhookWithSecret>> {
  const { teamId } = operation.actor
  const rotate = async (trx: Trx) => {
    if (!(await lockWebhook(trx, teamId, id))) throw notFound('webhook')
    const secret = createSecret()
    const after = await replaceSecret(trx, teamId, id, sealWebhookSecret(ring, id, secret), formerHours)
    await note(trx, operation, id, 'rotate_secret', {})
    return withSecret(after, secret)
  }
  return runChange(postgres, operation, rotate, { sealedUnder: ring })
}

async function lockForChange(trx: Trx, operation: Operation, id: number): Promise<WebhookRow> {
  const found = await lockWebhook(trx, operation.actor.teamId, id)
  if (!found) throw notFound('webhook')
  requireMatch(operation.ifMatch, etagOf(found.version))
  return found
}

/** The part recorded in the audit log: settings, and no secret. */
const recordedOf = (state: WebhookState) => fieldsOf(state, webhookFields)

function note(
  trx: Trx,
  operation: Operation,
  id: number,
  verb: string,
  change: { readonly before?: unknown; readonly after?: unknown },
): Promise<void> {
  return writeAudit(trx, {
    ...auditOf(operation),
    action: `webhook.${verb}`,
    target: `webhook:${id}`,
    ...change,
  })
}
