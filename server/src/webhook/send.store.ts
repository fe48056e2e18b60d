// The SQL of sending webhook deliveries: claims, due deliveries and the state of webhooks. Only loops use it, as the
// owner, except for a team's test of its webhook.
import { sql } from 'kysely'
import { claimRows } from '../db/due-work.ts'
import { noRestoreIsOpen } from '../db/open-restore.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { WebhookMessage, WebhookSigning } from './attempt.ts'

const signing = sql`w.id as webhook_id, w.url, w.secret_sealed,
  case when w.former_secret_until > now() then w.former_secret_sealed end as former_secret_sealed`

/** Finds the webhook of the team, even if it is disabled. */
export async function findSigning(trx: Trx, teamId: number, id: number): Promise<WebhookSigning | undefined> {
  const { rows } = await sql<WebhookSigning>`
    select ${signing} from webhooks w where w.team_id = ${teamId} and w.id = ${id}::bigint`.execute(trx)
  return rows[0]
}

export type ClaimedWebhook = { readonly webhook_id: number; readonly claim: number }

export type Due = ClaimedWebhook &
  WebhookSigning &
  WebhookMessage & {
    /** Null: the webhook of the operator. */
    readonly team_id: number | null
    readonly delivery_id: number
    readonly type: string
    /** Number of scheduled attempts made. */
    readonly step: number
  }

/**
 * Claims webhooks that have due deliveries, and returns the first delivery of each: only the holder of the claim sends
 * to a webhook, so that a slow endpoint delays no other and no delivery is sent twice concurrently. The deliveries are
 * read after the webhooks are claimed: the previous holder may have sent some in between.
 */
export async function claimDueWebhooks(db: Db, limit: number, leaseSeconds: number): Promise<Due[]> {
  return db.transaction().execute(async (trx) => {
    const claimed = await claimRows<ClaimedWebhook>(trx, 'webhooks', {
      due: sql`
        select r.id from webhooks r cross join lateral (
          select d.due from webhook_deliveries d
          where d.webhook_id = r.id and d.state = 'pending' and d.due <= now() order by d.due, d.id limit 1) d
        where r.enabled and coalesce(r.resting_until <= now(), true) and coalesce(r.claimed_until <= now(), true)
          and ${noRestoreIsOpen}
        order by d.due limit ${limit}`,
      lease: sql`claim = r.claim + 1, claimed_until = now() + make_interval(secs => ${leaseSeconds})`,
      returning: sql`r.id as webhook_id, r.claim`,
    })
    if (claimed.length === 0) return []
    const ids = claimed.map(({ webhook_id }) => webhook_id)
    const { rows } = await sql<Due>`
      select ${signing}, w.team_id, w.claim, d.id as delivery_id, d.type, d.message_id, d.body, d.step
      from webhooks w cross join lateral (
        select d.* from webhook_deliveries d
        where d.webhook_id = w.id and d.state = 'pending' and d.due <= now() order by d.due, d.id limit 1) d
      where w.id = any(${ids}::integer[]) order by d.due`.execute(trx)
    const found = new Set(rows.map(({ webhook_id }) => webhook_id))
    await releaseClaims(
      trx,
      claimed.filter(({ webhook_id }) => !found.has(webhook_id)),
    )
    return rows
  })
}

/** Deliveries that can be sent now. Deliveries that wait for a failing or disabled receiver are not late. */
export const sendable = sql`webhook_deliveries d join webhooks w on w.id = d.webhook_id and w.enabled
    and coalesce(w.resting_until <= now(), true)
  where d.state = 'pending' and d.due <= now()`

/** Ends the claims, so that other processes can send immediately. */
export async function releaseClaims(db: Db | Trx, claims: readonly ClaimedWebhook[]): Promise<void> {
  if (claims.length === 0) return
  await sql`
    update webhooks w set claimed_until = null
    from unnest(${claims.map((one) => one.webhook_id)}::integer[], ${claims.map((one) => one.claim)}::bigint[])
      as n (id, claim)
    where w.id = n.id and w.claim = n.claim`.execute(db)
}

export type Health = {
  readonly team_name: string | null
  readonly url: string
  readonly enabled: boolean
  readonly failing_since: Date | null
  readonly failures: number
}

/** Returns undefined if another process has the claim by now, or the webhook is deleted. */
export async function lockClaimed(
  trx: Trx,
  { webhook_id, claim }: ClaimedWebhook,
): Promise<Health | undefined> {
  const { rows } = await sql<Health>`
    select t.name as team_name, w.url, w.enabled, w.failing_since, w.failures
    from webhooks w left join teams t on t.id = w.team_id
    where w.id = ${webhook_id} and w.claim = ${claim} for no key update of w`.execute(trx)
  return rows[0]
}

/** Ends the claim after a delivery that succeeded. */
export async function saveSuccess(trx: Trx, webhookId: number): Promise<void> {
  await sql`
    update webhooks set claimed_until = null, last_delivery = now(), failing_since = null, failures = 0,
      resting_until = null
    where id = ${webhookId}`.execute(trx)
}

export async function saveWebhookFailure(
  trx: Trx,
  webhookId: number,
  since: Date,
  restMs: number,
): Promise<void> {
  await sql`
    update webhooks set claimed_until = null, failing_since = ${since}, failures = failures + 1,
      resting_until = now() + make_interval(secs => ${restMs / 1000}::double precision)
    where id = ${webhookId}`.execute(trx)
}

export async function disable(trx: Trx, webhookId: number, reason: 'gone' | 'failing'): Promise<void> {
  await sql`
    update webhooks set enabled = false, disabled_reason = ${reason}, version = version + 1, modified = now()
    where id = ${webhookId}`.execute(trx)
}

/** Lists the confirmed addresses of the team's admins. */
export async function listAdminEmails(trx: Trx, teamId: number): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select u.email from memberships m join users u on u.id = m.user_id
    where m.team_id = ${teamId} and m.is_admin and u.email_confirmed is not null order by u.id`.execute(trx)
  return rows.map(({ email }) => email)
}
