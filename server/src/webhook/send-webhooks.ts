// Sends what is due, to many webhooks at once and to each of them one message at a time. A run starts what there is room for and
// does not wait for it: an endpoint that takes its fifteen seconds would keep the run, and with it all others, waiting.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { attemptOf, attemptToSend } from './attempt.ts'
import { cancelDeliveries, saveAttempt } from './delivery.store.ts'
import { testType } from '@pharos/contract/webhook'
import { afterAttempt, errorOf, isGivenUp, isGone, restAfter } from './schedule.ts'
import {
  claimDue,
  disable,
  listAdminEmails,
  lockClaimed,
  releaseClaims,
  saveFailure,
  saveSuccess,
  type Due,
  type Health,
} from './send.store.ts'
import type { SendResult, WebhookSender } from './webhook-sender.ts'

/** `retried`: it will be tried again; `failed`: it was given up. */
export type SendOutcome = 'delivered' | 'retried' | 'failed' | 'disabled'

export type SendDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly sender: WebhookSender
  /** For the webhook of the operator, whose URL no team chose. */
  readonly operatorSender: WebhookSender
  /** Webhooks at once, of this process. */
  readonly parallel: number
  readonly now: () => Date
  readonly random: () => number
  readonly onOutcome: (outcome: SendOutcome, due: Due, error: string | undefined) => void
  /** What went wrong on our side; the message is sent again when its claim has run out. */
  readonly onError: (error: unknown) => void
  /** There is room again, and there may be more to send. */
  readonly onEnd: () => void
}

/** A claim lasts longer than an attempt can: who is killed with one is replaced after this. */
const leaseSeconds = 60

export type WebhookSending = {
  /** Starts what is due and what there is room for. */
  run(): Promise<void>
  /** How many messages are on their way. */
  readonly sending: number
  /** Waits so long for what is on its way, and leaves the rest to others. */
  stop(graceMs: number): Promise<void>
}

export function createWebhookSending(deps: SendDeps): WebhookSending {
  const onTheWay = new Set<Promise<void>>()
  const stopping = new AbortController()

  function begin(due: Due): void {
    const task = sendOne(deps, due, stopping.signal)
      .catch(deps.onError)
      .finally(() => {
        onTheWay.delete(task)
        if (!stopping.signal.aborted) deps.onEnd()
      })
    onTheWay.add(task)
  }

  return {
    async run() {
      const room = deps.parallel - onTheWay.size
      if (room <= 0 || stopping.signal.aborted) return
      for (const due of await claimDue(deps.db, room, leaseSeconds)) begin(due)
    },
    get sending() {
      return onTheWay.size
    },
    async stop(graceMs) {
      const timer = setTimeout(() => stopping.abort(new Error('the process stops')), graceMs)
      await Promise.all(onTheWay)
      clearTimeout(timer)
      stopping.abort(new Error('the process stops'))
    },
  }
}

async function sendOne(deps: SendDeps, due: Due, signal: AbortSignal): Promise<void> {
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
  if (outcome) deps.onOutcome(outcome, due, errorOf(result))
}

/** Undefined where the claim was lost meanwhile: whoever has it now says what became of the message. */
async function save(
  deps: SendDeps,
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
  await saveFailure(trx, due.webhook_id, since, restAfter(result, health.failures + 1))
  const reason = isGone(result) ? 'gone' : isGivenUp(since, at, step) ? 'failing' : undefined
  if (reason && health.enabled && due.team_id !== null) {
    await giveUp(deps, trx, { ...due, team_id: due.team_id }, health, reason, since, errorOf(result)!)
    return 'disabled'
  }
  return next.state === 'pending' ? 'retried' : 'failed'
}

const afterTest = (result: SendResult) =>
  ({ state: errorOf(result) === undefined ? 'delivered' : 'failed' }) as const

async function giveUp(
  { ring }: SendDeps,
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
