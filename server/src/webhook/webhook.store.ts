// The SQL of webhooks as their team creates and changes them. Sending is in send.store.ts.
import type { MessageType } from '@pharos/contract/webhook-message'
import type { DisabledReason } from '@pharos/contract/webhook'
import { sql } from 'kysely'
import type { Postgres, Trx } from '../db/postgres.ts'

export type WebhookRow = {
  readonly id: number
  readonly url: string
  readonly description: string
  readonly events: MessageType[]
  readonly enabled: boolean
  readonly disabled_reason: DisabledReason | null
  readonly version: number
  readonly created: Date
  readonly created_by: string
  readonly modified: Date
  readonly failing_since: Date | null
  readonly last_delivery: Date | null
}

const columns = sql`w.id, w.url, w.description, w.events, w.enabled, w.disabled_reason, w.version, w.created,
  w.created_by, w.modified, w.failing_since, w.last_delivery`

export async function findWebhook(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<WebhookRow | undefined> {
  const query = sql`select ${columns} from webhooks w where w.team_id = ${teamId} and w.id = ${id}::bigint`
  const [row] = await postgres.readInTeam<WebhookRow>(teamId, query.compile(postgres.owner))
  return row
}

export async function lockWebhook(trx: Trx, teamId: number, id: number): Promise<WebhookRow | undefined> {
  const { rows } = await sql<WebhookRow>`
    select ${columns} from webhooks w
    where w.team_id = ${teamId} and w.id = ${id}::bigint for no key update`.execute(trx)
  return rows[0]
}

export type WebhookOrder = {
  readonly key: 'id' | 'created' | 'url'
  readonly descending: boolean
}

/** A page of the team's webhooks and the exact count, from one snapshot. */
export async function listWebhookRows(
  postgres: Postgres,
  teamId: number,
  enabled: boolean | undefined,
  order: readonly WebhookOrder[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ page: WebhookRow[]; count: number }> {
  const keys = order.map(({ key, descending }) => sql`${sql.ref(key)} ${descending ? sql`desc` : sql`asc`}`)
  const query = sql`
    with matching as (
      select ${columns} from webhooks w
      where w.team_id = ${teamId} ${enabled === undefined ? sql`` : sql`and w.enabled = ${enabled}`}),
    page as (
      select row_number() over () as place, p.*
      from (select * from matching order by ${sql.join([...keys, sql`id`])} limit ${limit} offset ${offset}) p)
    select c.count, page.* from (select count(*) from matching) c left join page on true order by page.place`
  const rows = await postgres.readInTeam<{ id: null; count: number } | (WebhookRow & { count: number })>(
    teamId,
    query.compile(postgres.owner),
  )
  return { page: rows.filter((row) => row.id !== null), count: rows[0]!.count }
}

/** Two that create at once count each other: they wait here. */
export async function countWebhooks(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of team ${teamId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from webhooks where team_id = ${teamId}`.execute(trx)
  return rows[0]!.count
}

export type NewWebhook = Pick<WebhookRow, 'url' | 'description' | 'events' | 'created_by'>

/** Without its secret, which is bound to the id. */
export async function insertWebhook(trx: Trx, teamId: number, webhook: NewWebhook): Promise<WebhookRow> {
  const { url, description, events, created_by } = webhook
  const { rows } = await sql<WebhookRow>`
    insert into webhooks as w (team_id, url, description, events, created_by, secret_sealed)
    values (${teamId}, ${url}, ${description}, ${events}::text[], ${created_by}, '')
    returning ${columns}`.execute(trx)
  return rows[0]!
}

export async function saveSecret(trx: Trx, teamId: number, id: number, sealed: Buffer): Promise<void> {
  await sql`update webhooks set secret_sealed = ${sealed} where team_id = ${teamId} and id = ${id}`.execute(
    trx,
  )
}

/** The secret that there was signs until then. */
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
    where team_id = ${teamId} and id = ${id} returning ${columns}`.execute(trx)
  return rows[0]!
}

export type WebhookState = Pick<WebhookRow, 'url' | 'description' | 'events' | 'enabled' | 'disabled_reason'>

/** `anew`: what failed before does not count any more. */
export async function saveWebhook(
  trx: Trx,
  teamId: number,
  id: number,
  state: WebhookState,
  anew: boolean,
): Promise<WebhookRow> {
  const { url, description, events, enabled, disabled_reason } = state
  const forget = anew ? sql`, failing_since = null, failures = 0, resting_until = null` : sql``
  const { rows } = await sql<WebhookRow>`
    update webhooks w set url = ${url}, description = ${description}, events = ${events}::text[], enabled = ${enabled},
      disabled_reason = ${disabled_reason}, version = version + 1, modified = now() ${forget}
    where team_id = ${teamId} and id = ${id} returning ${columns}`.execute(trx)
  return rows[0]!
}

export async function deleteWebhookRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from webhooks where team_id = ${teamId} and id = ${id}`.execute(trx)
}
