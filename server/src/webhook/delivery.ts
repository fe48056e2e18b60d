// Deliveries as their team sees them: reading, sending again, and test messages.
import type { QueryOf } from '@pharos/contract/route'
import {
  testType,
  type Delivery,
  type DeliveryDetail,
  type listWebhookDeliveriesRoute,
} from '@pharos/contract/messages/webhook'
import { randomBytes } from 'node:crypto'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { wake } from '../db/wake.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import type { RateLimiter } from '../runtime/rate-limit.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { attemptOf, attemptToSend, type WebhookMessage, type WebhookSigning } from './attempt.ts'
import {
  findWebhookDelivery,
  insertTest,
  listWebhookDeliveryRows,
  markDueNow,
  saveAttempt,
  type WebhookDeliveryRow,
  type DetailRow,
} from './delivery.store.ts'
import { errorOf } from './schedule.ts'
import { findSigning } from './send.store.ts'
import type { WebhookSender } from './webhook-sender.ts'
import { lockWebhook } from './webhook.store.ts'

export type WebhookDeliveryDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly sender: WebhookSender
  /** Per team: a test sends a request and waits for the response. */
  readonly tests: RateLimiter
  readonly now: () => Date
  readonly onSent: (outcome: 'delivered' | 'failed') => void
}

/** Returns a page of one webhook's deliveries, newest first; throws `not_found`. */
export async function listWebhookDeliveries(
  { postgres }: Pick<WebhookDeliveryDeps, 'postgres'>,
  { actor }: Operation,
  webhookId: number,
  query: QueryOf<typeof listWebhookDeliveriesRoute>,
): Promise<{ results: Delivery[]; count: number }> {
  const { page, count } = await listWebhookDeliveryRows(postgres, actor.teamId, webhookId, query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export async function getWebhookDelivery(
  { postgres }: Pick<WebhookDeliveryDeps, 'postgres'>,
  { actor }: Operation,
  webhookId: number,
  id: number,
): Promise<DeliveryDetail> {
  const row = await findWebhookDelivery(postgres, actor.teamId, webhookId, id)
  if (!row) throw notFound('delivery')
  return presentDetail(row)
}

/** Throws `not_found`, and `conflict` while the webhook is disabled. */
export async function redeliver(
  { postgres }: Pick<WebhookDeliveryDeps, 'postgres'>,
  operation: Operation,
  webhookId: number,
  id: number,
): Promise<ChangeAnswer<DeliveryDetail>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    const webhook = await lockWebhook(trx, teamId, webhookId)
    if (!webhook) throw notFound('delivery')
    const row = await markDueNow(trx, teamId, webhookId, id)
    if (!row) throw notFound('delivery')
    if (!webhook.enabled) throw fail('conflict', 'webhookDisabled')
    await writeAudit(trx, {
      ...auditOf(operation),
      action: 'webhook.redeliver',
      target: `webhook:${webhookId}`,
      after: { delivery: id, message_id: row.message_id },
    })
    await wake(trx, 'webhooks')
    return { body: presentDetail(row) }
  })
}

/** Longer than an attempt takes. If the process dies during a test, the loop sends it afterwards. */
const leaseSeconds = 120

/**
 * Sends a message of type `webhook.test` once, outside of any transaction. A repeat with the same Idempotency-Key returns the
 * result of the first. Throws `not_found`, `rate_limited` and, while the first is being sent, `idempotency_in_flight`.
 */
export async function sendTest(
  deps: WebhookDeliveryDeps,
  operation: Operation,
  webhookId: number,
): Promise<ChangeAnswer<DeliveryDetail>> {
  const { postgres, tests, now } = deps
  const { teamId } = operation.actor
  const at = now()
  const messageId = `msg_test_${at.getTime().toString(16)}_${randomBytes(6).toString('hex')}`
  const body = JSON.stringify({
    type: testType,
    timestamp: at.toISOString(),
    data: { webhook_id: webhookId },
  })
  let signing: WebhookSigning | undefined
  const { body: created, replayed } = await runChange(postgres, operation, async (trx) => {
    signing = await findSigning(trx, teamId, webhookId)
    if (!signing) throw notFound('webhook')
    tests.take(`team:${teamId}`)
    const test = { webhookId, messageId, type: testType, body, leaseSeconds } as const
    const id = await insertTest(trx, teamId, test)
    const entry = { action: 'webhook.test', target: `webhook:${webhookId}` }
    await writeAudit(trx, { ...auditOf(operation), ...entry })
    return { body: { id } }
  })
  const { id } = created as { readonly id: number }
  if (signing) await attemptTest(deps, signing, { id, teamId, at, message: { message_id: messageId, body } })
  const delivery = await getWebhookDelivery(deps, operation, webhookId, id)
  if (replayed && delivery.state === 'pending')
    throw fail('idempotency_in_flight', 'request', { retryAfterSeconds: 1 })
  return { body: delivery, ...(replayed && { replayed }) }
}

type Test = {
  readonly id: number
  readonly teamId: number
  readonly at: Date
  readonly message: WebhookMessage
}

async function attemptTest(
  { postgres, ring, sender, onSent }: WebhookDeliveryDeps,
  signing: WebhookSigning,
  { id, teamId, at, message }: Test,
): Promise<void> {
  const never = new AbortController().signal
  const result = await attemptToSend(ring, sender, signing, message, at, never)
  const state = errorOf(result) === undefined ? 'delivered' : 'failed'
  onSent(state)
  await postgres.inTeam(teamId, (trx) =>
    saveAttempt(trx, id, { state, attempt: attemptOf(result, at), waitMs: 0 }),
  )
}

function present({ due, created, last_attempt, ...row }: WebhookDeliveryRow): Delivery {
  return {
    ...row,
    created: created.toISOString(),
    next_attempt: row.state === 'pending' ? due.toISOString() : null,
    last_attempt: last_attempt?.toISOString() ?? null,
  }
}

function presentDetail({ body, attempts, ...row }: DetailRow): DeliveryDetail {
  return { ...present(row), payload: JSON.parse(body) as Record<string, unknown>, attempts }
}
