// The SQL that writes the outbox and the webhook deliveries of its messages. Reading is in stream/ and webhook/.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import { executeLater } from '../db/team-transactions.ts'
import { unnestRows } from '../db/unnest.ts'
import { waking } from '../db/wake.ts'

export type MessageRow = {
  /** Null: a message to the operator. */
  readonly teamId: number | null
  /** The only user who gets the message, from the stream; null: all readers of the team, and webhooks. */
  readonly userId: number | null
  readonly type: string
  /** JSON. */
  readonly data: string
}

/** A team needs the module, if there is one, to get messages of the type by a webhook. */
export type TypeModule = { readonly type: string; readonly module: string | null }

/**
 * Inserts in the given order, with a delivery for each enabled webhook that receives the message, and wakes the
 * senders. Webhooks deleted in the meantime are skipped; the others are locked until the transaction ends. `body` and
 * `message_id` are as message.ts describes.
 */
export async function insertMessages(
  trx: Trx,
  rows: readonly MessageRow[],
  modules: readonly TypeModule[],
): Promise<void> {
  await executeLater(
    trx,
    sql`
    with messages as (
      insert into outbox (team_id, user_id, type, data)
      select n."teamId", n."userId", n.type, n.data::json
      from ${unnestRows(rows, { teamId: 'integer', userId: 'integer', type: 'text', data: 'json' }, { few: true })}
      order by n.place
      returning id, team_id, user_id, type, at, data),
    deliveries as (
      insert into webhook_deliveries (webhook_id, team_id, message_id, type, body)
      select w.id, m.team_id, concat('msg_', to_hex(floor(extract(epoch from m.at) * 1000)::bigint), '_', to_hex(m.id)), m.type,
        concat('{"type":"', m.type, '","timestamp":"', to_char(m.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '","data":',
          m.data, '}')
      from messages m
        join webhooks w on w.team_id = m.team_id or (w.team_id is null and m.team_id is null)
      where m.user_id is null and w.enabled and m.type = any(w.events) and (m.team_id is null or exists (
        select from teams t, unnest((select ${modules.map(({ type }) => type)}::text[]), (select ${modules.map(({ module }) => module)}::text[])) as n (type, module)
        where t.id = m.team_id and n.type = m.type and (n.module is null or n.module = any(t.enabled_modules))))
      order by m.id, w.id
      for key share of w
      returning 1)
    select ${waking('outbox')}
    union all select ${waking('webhooks')} from (select from deliveries limit 1) d`,
  )
}
