// The SQL of deliveries as their team reads them and sends them again.
import type { DeliveryState, SentType } from '@pharos/contract/webhook'
import { sql } from 'kysely'
import type { Db, Postgres, Trx } from '../db/postgres.ts'

/** As the row holds it: its time is text. */
export type Attempt = {
  readonly at: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly answer: string
}

export type DeliveryRow = {
  readonly id: number
  readonly message_id: string
  readonly type: SentType
  readonly state: DeliveryState
  readonly created: Date
  readonly due: Date
  readonly attempt_count: number
  readonly last_attempt: Date | null
  readonly last_status: number | null
  readonly last_error: string | null
  readonly duration_ms: number | null
}

export type DetailRow = DeliveryRow & { readonly body: string; readonly attempts: Attempt[] }

const columns = sql`d.id, d.message_id, d.type, d.state, d.created, d.due, d.attempt_count, d.last_attempt, d.last_status,
  d.last_error, d.duration_ms`
const detail = sql`${columns}, d.body, d.attempts`

/** Finds a delivery of one webhook of the team. */
export async function findDelivery(
  postgres: Postgres,
  teamId: number,
  webhookId: number,
  id: number,
): Promise<DetailRow | undefined> {
  const query = sql`
    select ${detail} from webhook_deliveries d
    where d.team_id = ${teamId} and d.webhook_id = ${webhookId}::bigint and d.id = ${id}::bigint`
  const [row] = await postgres.readInTeam<DetailRow>(teamId, query.compile(postgres.owner))
  return row
}

export type DeliveryFilter = {
  readonly state?: readonly DeliveryState[]
  readonly type?: readonly SentType[]
}

/** A page, newest first, and the exact count, from one snapshot; undefined where the team has no such webhook. */
export async function listDeliveryRows(
  postgres: Postgres,
  teamId: number,
  webhookId: number,
  { state, type }: DeliveryFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ page: DeliveryRow[]; count: number } | undefined> {
  const query = sql`
    with one as (select id from webhooks where team_id = ${teamId} and id = ${webhookId}::bigint),
    matching as (
      select ${columns} from webhook_deliveries d join one on one.id = d.webhook_id
      where d.team_id = ${teamId}
        ${state ? sql`and d.state = any(${state}::text[])` : sql``}
        ${type ? sql`and d.type = any(${type}::text[])` : sql``})
    select c.count, page.*
    from one cross join (select count(*) from matching) c
      left join (select * from matching order by id desc limit ${limit} offset ${offset}) page on true
    order by page.id desc`
  const rows = await postgres.readInTeam<{ id: null; count: number } | (DeliveryRow & { count: number })>(
    teamId,
    query.compile(postgres.owner),
  )
  if (rows.length === 0) return undefined
  return { page: rows.filter((row) => row.id !== null), count: rows[0]!.count }
}

/** Makes the delivery due now, at the first step of the schedule, even if its webhook rests; returns undefined if it does not exist. */
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
    returning ${detail}`.execute(trx)
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
  /** The loop does not send it before. */
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
  readonly attempt: Attempt
  /** Time until the next attempt. */
  readonly waitMs: number
}

/** Saves the attempt, and the state of a delivery that is still pending: one that was cancelled meanwhile stays cancelled. */
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
