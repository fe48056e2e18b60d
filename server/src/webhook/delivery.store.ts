// The SQL for a team that reads its deliveries and sends them again.
import type { QueryOf } from '@pharos/contract/route'
import type { DeliveryState, listWebhookDeliveriesRoute, SentType } from '@pharos/contract/messages/webhook'
import { sql } from 'kysely'
import { columns, withExpressions, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'

/** As stored; times are text. */
export type DeliveryAttempt = {
  readonly at: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly answer: string
}

const deliveryColumns = columns(
  'webhook_deliveries',
  'd',
  [
    'id',
    'message_id',
    'created',
    'due',
    'attempt_count',
    'last_attempt',
    'last_status',
    'last_error',
    'duration_ms',
  ],
  { type: sql<SentType>`d.type`, state: sql<DeliveryState>`d.state` },
)
export type WebhookDeliveryRow = RowOf<typeof deliveryColumns>

const detailColumns = withExpressions(deliveryColumns, {
  body: sql<string>`d.body`,
  attempts: sql<DeliveryAttempt[]>`d.attempts`,
})
export type DetailRow = RowOf<typeof detailColumns>

/** Finds a delivery of one webhook of the team. */
export async function findWebhookDelivery(
  postgres: Postgres,
  teamId: number,
  webhookId: number,
  id: number,
): Promise<DetailRow | undefined> {
  const query = sql<DetailRow>`
    select ${detailColumns} from webhook_deliveries d
    where d.team_id = ${teamId} and d.webhook_id = ${webhookId}::bigint and d.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

/** Lists a page; throws `not_found` if the team has no such webhook. */
export const listWebhookDeliveryRows = (
  postgres: Postgres,
  teamId: number,
  webhookId: number,
  { state, type, ordering, ...slice }: QueryOf<typeof listWebhookDeliveriesRoute>,
): Promise<Page<WebhookDeliveryRow>> =>
  listInTeam(postgres, teamId, {
    parent: {
      name: 'webhook',
      statement: sql`select id from webhooks where team_id = ${teamId} and id = ${webhookId}::bigint`,
    },
    matching: sql`
      select d.* from webhook_deliveries d join parent on parent.id = d.webhook_id
      where d.team_id = ${teamId} ${andAll(
        state && sql`d.state = any(${state}::text[])`,
        type && sql`d.type = any(${type}::text[])`,
      )}`,
    columns: deliveryColumns,
    order: orderBy(
      ordering,
      {
        id: sql`d.id`,
        created: sql`d.created`,
        type: sql`d.type`,
        state: sql`d.state`,
        attempt_count: sql`d.attempt_count`,
        last_attempt: sql`d.last_attempt`,
      },
      sql`d.id`,
    ),
    slice,
  })

/**
 * Makes the delivery due now, at the first step of the schedule, even if its webhook is paused; returns undefined if it
 * does not exist.
 */
export async function markDueNow(
  trx: Trx,
  teamId: number,
  webhookId: number,
  id: number,
): Promise<DetailRow | undefined> {
  await sql`update webhooks set resting_until = null where team_id = ${teamId} and id = ${webhookId}::bigint`.execute(
    trx,
  )
  const { rows } = await sql<DetailRow>`
    update webhook_deliveries d set state = 'pending', due = now(), step = 0
    where d.team_id = ${teamId} and d.webhook_id = ${webhookId}::bigint and d.id = ${id}::bigint
    returning ${detailColumns}`.execute(trx)
  return rows[0]
}

/** Cancels the pending deliveries of the webhook. */
export async function cancelDeliveries(trx: Db | Trx, webhookId: number): Promise<void> {
  await sql`
    update webhook_deliveries set state = 'cancelled' where webhook_id = ${webhookId} and state = 'pending'`.execute(
    trx,
  )
}

export type NewTest = {
  readonly webhookId: number
  readonly messageId: string
  readonly type: SentType
  readonly body: string
  /** The loop does not send it before then. */
  readonly leaseSeconds: number
}

export async function insertTest(trx: Trx, teamId: number, test: NewTest): Promise<number> {
  const { webhookId, messageId, type, body, leaseSeconds } = test
  const { rows } = await sql<{ id: number }>`
    insert into webhook_deliveries (webhook_id, team_id, message_id, type, body, due)
    values (${webhookId}, ${teamId}, ${messageId}, ${type}, ${body}, now() + make_interval(secs => ${leaseSeconds}))
    returning id`.execute(trx)
  return rows[0]!.id
}

const attemptsKept = 20

export type AfterAttempt = {
  readonly state: DeliveryState
  readonly attempt: DeliveryAttempt
  /** Time until the next attempt. */
  readonly waitMs: number
}

/**
 * Saves the attempt, and the state if the delivery is still pending: a delivery that was cancelled in the meantime
 * stays cancelled.
 */
export async function saveAttempt(
  trx: Db | Trx,
  deliveryId: number,
  { state, attempt, waitMs }: AfterAttempt,
): Promise<void> {
  await sql`
    update webhook_deliveries d set
      state = case when d.state = 'pending' or ${state} = 'delivered' then ${state} else d.state end,
      due = now() + make_interval(secs => ${waitMs / 1000}::double precision),
      step = step + 1, attempt_count = attempt_count + 1,
      attempts = (select coalesce(jsonb_agg(a.one order by a.place), '[]') || ${JSON.stringify(attempt)}::jsonb
        from jsonb_array_elements(d.attempts) with ordinality a(one, place)
        where a.place > jsonb_array_length(d.attempts) - ${attemptsKept - 1}),
      last_attempt = ${attempt.at}, last_status = ${attempt.status}, last_error = ${attempt.error},
      duration_ms = ${attempt.duration_ms}
    where d.id = ${deliveryId}`.execute(trx)
}
