// The SQL that writes the outbox and the webhook deliveries of its messages. Reading is in stream/ and webhook/.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import { executeLater } from '../db/team-transactions.ts'
import { unnestRows } from '../db/unnest.ts'
import { storedJson } from '../db/stored-json.ts'

type MessageRow = {
  readonly teamId: number | null
  /** The only user who gets the message; null: all readers of the team. */
  readonly userId: number | null
  readonly type: string
  /** JSON. */
  readonly data: string
}

/** Inserts in the given order, and returns the ids in the same order. */
export async function insertMessages(trx: Trx, rows: readonly MessageRow[]): Promise<number[]> {
  const inserted = await sql<{ id: number }>`
    insert into outbox (team_id, user_id, type, data)
    select n."teamId", n."userId", n.type, n.data::json
    from ${unnestRows(rows, { teamId: 'integer', userId: 'integer', type: 'text', data: 'json' })}
    order by n.place
    returning id`.execute(trx)
  return inserted.rows.map(({ id }) => id).toSorted((a, b) => a - b)
}

/** An enabled webhook. */
export type Receiver = {
  readonly id: number
  readonly team_id: number | null
  readonly events: readonly string[]
  /** The team's modules; empty for the operator's webhook. */
  readonly modules: readonly string[]
  /** The time of the transaction, and thus of its messages. */
  readonly at: Date
}

/** Lists the enabled webhooks of the teams, by id; null is the operator. */
export async function listReceivers(trx: Trx, teamIds: readonly (number | null)[]): Promise<Receiver[]> {
  const ofTeams = sql`w.team_id = any(${teamIds.filter((id) => id !== null)}::integer[])`
  const { rows } = await sql<Receiver>`
    select w.id, w.team_id, w.events, coalesce(t.enabled_modules, '{}') as modules, now() as at
    from webhooks w left join teams t on t.id = w.team_id
    where w.enabled and ${teamIds.includes(null) ? sql`(w.team_id is null or ${ofTeams})` : ofTeams}
    order by w.id`.execute(trx)
  return rows
}

type NewDelivery = {
  readonly webhook_id: number
  readonly team_id: number | null
  readonly message_id: string
  readonly type: string
  readonly body: string
}

/** Skips webhooks deleted meanwhile; the remaining ones are locked until the transaction ends. */
export async function insertWebhookDeliveries(trx: Trx, rows: readonly NewDelivery[]): Promise<void> {
  await executeLater(
    trx,
    sql`
    insert into webhook_deliveries (webhook_id, team_id, message_id, type, body)
    select n.webhook_id, n.team_id, n.message_id, n.type, n.body
    from rows from (json_to_recordset(${storedJson(rows)}::json) as (
        webhook_id integer, team_id integer, message_id text, type text, body text))
      with ordinality n (webhook_id, team_id, message_id, type, body, place)
    where n.webhook_id in (
      select w.id from webhooks w where w.id = any(${[...new Set(rows.map((row) => row.webhook_id))]}::integer[])
      for key share)
    order by n.place`,
  )
}
