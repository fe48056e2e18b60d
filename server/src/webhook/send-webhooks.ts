// Sends the deliveries that are due, to many webhooks in parallel and to each webhook one at a time. A run starts
// deliveries and does not wait for them: an endpoint that takes fifteen seconds would delay all others.
import { writeAudit } from '../db/audit.ts'
import { createDueWorker } from '../db/due-work.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { attemptOf, attemptToSend } from './attempt.ts'
import { cancelDeliveries, saveAttempt } from './delivery.store.ts'
import { testType } from '@pharos/contract/messages/webhook'
import { afterAttempt, errorOf, mustBeDisabled, isGone, restAfter } from './schedule.ts'
import {
  claimDueWebhooks,
  disable,
  listAdminEmails,
  lockClaimed,
  releaseClaims,
  saveWebhookFailure,
  saveSuccess,
  type Due,
  type Health,
} from './send.store.ts'
import type { SendResult, WebhookSender } from './webhook-sender.ts'

/** `retried`: due again later; `failed`: not sent any more. */
export type SendOutcome = 'delivered' | 'retried' | 'failed' | 'disabled'

export type SendWebhooksDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly sender: WebhookSender
  /** For the operator's webhook, whose URL no team chose. */
  readonly operatorSender: WebhookSender
  /** Maximum number of webhooks served in parallel in this process. */
  readonly parallel: number
  readonly now: () => Date
  readonly random: () => number
  readonly onOutcome: (outcome: SendOutcome, due: Due, result: SendResult) => void
  /** A defect of the sender: the message is sent again when its claim ends. */
  readonly onError: (error: unknown) => void
  /** A slot is free for another delivery, and more may be due. */
  readonly onEnd: () => void
}

/** Lease in seconds, longer than an attempt. */
const leaseSeconds = 60

export type WebhookSending = {
  /** Starts the deliveries that are due, as many as there are free slots. */
  run(): Promise<void>
  /** Deliveries that are being sent. */
  readonly sending: number
  /** Waits that long for the deliveries that are being sent, and leaves the rest to other processes. */
  stop(graceMs: number): Promise<void>
}

export function createWebhookSending(deps: SendWebhooksDeps): WebhookSending {
  const stopping = new AbortController()
  const { signal } = stopping
  const worker = createDueWorker<Due>({
    parallel: deps.parallel,
    claim: (limit) => claimDueWebhooks(deps.db, limit, leaseSeconds),
    work: (due) => sendOne(deps, due, signal),
    onError: deps.onError,
    onEnd: () => signal.aborted || deps.onEnd(),
  })
  const abort = () => stopping.abort(new Error('the process stops'))
  return {
    async run() {
      if (!signal.aborted) await worker.fill()
    },
    get sending() {
      return worker.running
    },
    async stop(graceMs) {
      const timer = setTimeout(abort, graceMs)
      await worker.settled()
      clearTimeout(timer)
      abort()
    },
  }
}

async function sendOne(deps: SendWebhooksDeps, due: Due, signal: AbortSignal): Promise<void> {
  const at = deps.now()
  let result: SendResult
  try {
    const sender = due.team_id === null ? deps.operatorSender : deps.sender
    result = await attemptToSend(deps.ring, sender, due, due, at, signal)
  } catch (error) {
    await releaseClaims(deps.db, [due])
    if (signal.aborted) return
    throw error
  }
  const outcome = await deps.db.transaction().execute((trx) => save(deps, trx, due, result, at))
  if (outcome) deps.onOutcome(outcome, due, result)
}

/** Returns undefined if the claim was lost in the meantime: the new holder saves the outcome of the message. */
async function save(
  deps: SendWebhooksDeps,
  trx: Trx,
  due: Due,
  result: SendResult,
  at: Date,
): Promise<SendOutcome | undefined> {
  const health = await lockClaimed(trx, due)
  if (!health) return undefined
  const step = due.step + 1
  const next = due.type === testType ? afterTest(result) : afterAttempt(result, step, deps.random())
  const waitMs = next.state === 'pending' ? next.waitMs : 0
  await saveAttempt(trx, due.delivery_id, { state: next.state, attempt: attemptOf(result, at), waitMs })
  if (next.state === 'delivered') {
    await saveSuccess(trx, due.webhook_id)
    return 'delivered'
  }
  const since = health.failing_since ?? at
  await saveWebhookFailure(trx, due.webhook_id, since, restAfter(result, health.failures + 1))
  const reason = isGone(result) ? 'gone' : mustBeDisabled(since, at, step) ? 'failing' : undefined
  if (reason && health.enabled && due.team_id !== null) {
    await disableFailing(deps, trx, { ...due, team_id: due.team_id }, health, reason, since, errorOf(result)!)
    return 'disabled'
  }
  return next.state === 'pending' ? 'retried' : 'failed'
}

const afterTest = (result: SendResult) =>
  ({ state: errorOf(result) === undefined ? 'delivered' : 'failed' }) as const

async function disableFailing(
  { ring }: SendWebhooksDeps,
  trx: Trx,
  { webhook_id, team_id }: Due & { readonly team_id: number },
  { team_name, url }: Health,
  reason: 'gone' | 'failing',
  since: Date,
  error: string,
): Promise<void> {
  await disable(trx, webhook_id, reason)
  await cancelDeliveries(trx, webhook_id)
  await writeAudit(trx, {
    teamId: team_id,
    actor: 'pharos',
    action: 'webhook.disable',
    target: `webhook:${webhook_id}`,
    before: { enabled: true },
    after: { enabled: false, disabled_reason: reason, error },
  })
  const content = { team: team_name ?? '', url, since: since.toISOString(), error }
  for (const to of await listAdminEmails(trx, team_id))
    await queueMail(trx, ring, { to, teamId: team_id, template: 'webhook-disabled', content })
}
