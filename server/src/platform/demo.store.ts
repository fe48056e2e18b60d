// The SQL of the demo's history: deliveries that were received in the past.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import type { DemoDelivery } from './demo-history.ts'

/** Partitions first: a month can get none of its own once the default one holds rows of it. */
export async function createPartitionsSince(trx: Trx, since: Date, until: Date): Promise<void> {
  await sql`
    select create_month_partitions(month::date)
    from generate_series(date_trunc('month', ${since}::timestamptz at time zone 'UTC'),
      ${until}::timestamptz at time zone 'UTC', interval '1 month') month`.execute(trx)
}

/** Adds those that are not there yet; gives back how many these were. */
export async function insertPastDeliveries(trx: Trx, deliveries: readonly DemoDelivery[]): Promise<number> {
  const rows = deliveries.map(({ sourceKey, deliveryId, received, body }) => ({
    source_key: sourceKey,
    delivery_id: deliveryId,
    received,
    body: JSON.stringify(body),
  }))
  const { numAffectedRows = 0n } = await sql`
    with sent as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n (source_key text, delivery_id text, received timestamptz, body text)),
    fresh as (
      insert into delivery_ids (source_key, delivery_id, received) select source_key, delivery_id, received from sent
      on conflict do nothing returning source_key, delivery_id)
    insert into deliveries (source_key, delivery_id, received, content_type, body)
    select source_key, delivery_id, received, 'application/json', convert_to(body, 'UTF8')
    from sent join fresh using (source_key, delivery_id) order by received, delivery_id`.execute(trx)
  return Number(numAffectedRows)
}
