// The SQL of webhooks as their team creates and changes them. Sending is in send.store.ts.
import type { MessageType } from '@pharos/contract/messages/webhook-message'
import type { QueryOf } from '@pharos/contract/route'
import type { DisabledReason, listWebhooksRoute } from '@pharos/contract/messages/webhook'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'

const webhookColumns = columns(
  'webhooks',
  'w',
  [
    'id',
    'url',
    'description',
    'enabled',
    'version',
    'created',
    'created_by',
    'modified',
    'failing_since',
    'last_delivery',
  ],
  {
    events: sql<MessageType[]>`w.events`,
    disabled_reason: sql<DisabledReason | null>`w.disabled_reason`,
  },
)
export type WebhookRow = Readonly<RowOf<typeof webhookColumns>>

export async function findWebhook(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<WebhookRow | undefined> {
  const query = sql<WebhookRow>`
    select ${webhookColumns} from webhooks w where w.team_id = ${teamId} and w.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

export async function lockWebhook(trx: Trx, teamId: number, id: number): Promise<WebhookRow | undefined> {
  const { rows } = await sql<WebhookRow>`
    select ${webhookColumns} from webhooks w
    where w.team_id = ${teamId} and w.id = ${id}::bigint for no key update`.execute(trx)
  return rows[0]
}

/** A page of the team's webhooks. */
export const listWebhookRows = (
  postgres: Postgres,
  teamId: number,
  { enabled, url, ...query }: QueryOf<typeof listWebhooksRoute>,
): Promise<Page<WebhookRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select w.* from webhooks w where w.team_id = ${teamId} ${andAll(
        enabled !== undefined && sql`w.enabled = ${enabled}`,
        url !== undefined && sql`w.url = ${url}`,
      )}`,
    columns: webhookColumns,
    order: orderBy(query.ordering, { id: sql`w.id`, created: sql`w.created`, url: sql`w.url` }, sql`w.id`),
    slice: query,
  })

/** Serializes concurrent creations: each counts the webhooks of the other. */
export async function countWebhooks(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of team ${teamId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from webhooks where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

export type NewWebhook = Pick<WebhookRow, 'url' | 'description' | 'events' | 'created_by'>

/** Inserts without the secret, which is bound to the id. */
export async function insertWebhook(trx: Trx, teamId: number, webhook: NewWebhook): Promise<WebhookRow> {
  const { url, description, events, created_by } = webhook
  const { rows } = await sql<WebhookRow>`
    insert into webhooks as w (team_id, url, description, events, created_by, secret_sealed)
    values (${teamId}, ${url}, ${description}, ${events}::text[], ${created_by}, '')
    returning ${webhookColumns}`.execute(trx)
  return rows[0]!
}

export async function saveSecret(trx: Trx, teamId: number, id: number, sealed: Buffer): Promise<void> {
  await sql`update webhooks set secret_sealed = ${sealed} where team_id = ${teamId} and id = ${id}`.execute(
    trx,
  )
}

/** Replaces the secret; the previous one signs until then. */
export async function replaceSecret(
  trx: Trx,
  teamId: number,
  id: number,
  sealed: Buffer,
  formerHours: number,
): Promise<WebhookRow> {
  const { rows } = await sql<WebhookRow>`
    update webhooks w set former_secret_sealed = secret_sealed, secret_sealed = ${sealed},
      former_secret_until = now() + make_interval(hours => ${formerHours}), version = version + 1, modified = now()
    where team_id = ${teamId} and id = ${id} returning ${webhookColumns}`.execute(trx)
  return rows[0]!
}

/** The columns that a request changes, directly or by `enabled`. */
export const webhookFields = ['url', 'description', 'events', 'enabled', 'disabled_reason'] as const
export type WebhookState = Pick<WebhookRow, (typeof webhookFields)[number]>

/** `resetFailures`: earlier failures no longer count. */
export async function saveWebhook(
  trx: Trx,
  teamId: number,
  id: number,
  state: WebhookState,
  resetFailures: boolean,
): Promise<WebhookRow> {
  const { url, description, events, enabled, disabled_reason } = state
  const reset = resetFailures ? sql`, failing_since = null, failures = 0, resting_until = null` : sql``
  const { rows } = await sql<WebhookRow>`
    update webhooks w set url = ${url}, description = ${description}, events = ${events}::text[], enabled = ${enabled},
      disabled_reason = ${disabled_reason}, version = version + 1, modified = now() ${reset}
    where team_id = ${teamId} and id = ${id} returning ${webhookColumns}`.execute(trx)
  return rows[0]!
}

export async function deleteWebhookRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from webhooks where team_id = ${teamId} and id = ${id}`.execute(trx)
}
