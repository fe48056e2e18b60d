// The SQL of the operator's webhook: the one row of `webhooks` without a team.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

export type OperatorWebhookRow = {
  readonly id: number
  readonly url: string
  readonly events: readonly string[]
  readonly secret_sealed: Buffer
}

/** Prevents two processes that start together from inserting two rows. */
export async function lockOperatorWebhook(trx: Trx): Promise<OperatorWebhookRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended('webhook of the operator', 0))`.execute(trx)
  const { rows } = await sql<OperatorWebhookRow>`
    select id, url, events, secret_sealed from webhooks where team_id is null for no key update`.execute(trx)
  return rows[0]
}

/** Inserts without the secret, which is bound to the id. */
export async function insertOperatorWebhook(trx: Trx, url: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into webhooks (url, events, created_by, secret_sealed)
    values (${url}, '{approval.opened}', 'operator', '') returning id`.execute(trx)
  return rows[0]!.id
}

/** Resets the failures of the previous settings. */
export async function saveOperatorWebhook(
  trx: Trx,
  id: number,
  { url, events, secret_sealed }: Omit<OperatorWebhookRow, 'id'>,
): Promise<void> {
  await sql`
    update webhooks set url = ${url}, events = ${events}::text[], secret_sealed = ${secret_sealed}, enabled = true,
      disabled_reason = null, failing_since = null, failures = 0, resting_until = null, modified = now()
    where id = ${id}`.execute(trx)
}

export async function deleteOperatorWebhook(trx: Trx): Promise<void> {
  await sql`delete from webhooks where team_id is null`.execute(trx)
}
