// The SQL of deliveries: the bodies as detectors sent them, byte for byte, and their state.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

export type NewDelivery = {
  readonly sourceKey: string
  readonly deliveryId: string
  readonly contentType: string | null
  readonly body: Buffer
}

/**
 * Inserts the delivery, unless the source has sent this delivery id before: then the first one is kept, and the result is
 * `repeated` for the same body and `another` for another one.
 */
export async function insertDelivery(
  trx: Trx,
  delivery: NewDelivery,
): Promise<'inserted' | 'repeated' | 'another'> {
  const digest = createHash('sha256').update(delivery.body).digest()
  const { rows } = await sql`
    with fresh as (
      insert into delivery_ids (source_key, delivery_id, body_sha256)
      values (${delivery.sourceKey}, ${delivery.deliveryId}, ${digest})
      on conflict do nothing returning received)
    insert into deliveries (source_key, delivery_id, received, content_type, body)
    select ${delivery.sourceKey}, ${delivery.deliveryId}, received, ${delivery.contentType}, ${delivery.body}
    from fresh returning id`.execute(trx)
  if (rows.length > 0) return 'inserted'
  const first = await sql<{ same: boolean }>`
    select coalesce(body_sha256 = ${digest}, true) as same from delivery_ids
    where source_key = ${delivery.sourceKey} and delivery_id = ${delivery.deliveryId}`.execute(trx)
  return first.rows[0]!.same ? 'repeated' : 'another'
}

export type Delivery = {
  readonly id: number
  readonly sourceKey: string
  readonly received: Date
  readonly body: Buffer
}

/**
 * Locks the next new deliveries, oldest first, skipping those locked by other transactions: at most `limit`, and at
 * most `bytesMax` in total, but at least one.
 */
export async function claimDeliveries(trx: Trx, limit: number, bytesMax: number): Promise<Delivery[]> {
  const claimed = await sql<{ id: number; bytes: number }>`
    select id, octet_length(body) as bytes from deliveries where state = 'new'
    order by id limit ${limit} for update skip locked`.execute(trx)
  const ids = fitting(claimed.rows, bytesMax)
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: number; source_key: string; received: Date; body: Buffer }>`
    select id, source_key, received, body from deliveries where id = any(${ids}::bigint[]) order by id`.execute(
    trx,
  )
  return rows.map(({ id, source_key, received, body }) => ({ id, sourceKey: source_key, received, body }))
}

function fitting(rows: readonly { id: number; bytes: number }[], bytesMax: number): number[] {
  let sum = 0
  const ids: number[] = []
  for (const { id, bytes } of rows) {
    sum += bytes
    if (ids.length > 0 && sum > bytesMax) break
    ids.push(id)
  }
  return ids
}

export type Outcome = { readonly id: number; readonly error: string | null }

/** Marks deliveries as done, or as failed with the reason; failed ones are kept for a replay. */
export async function saveOutcomes(trx: Trx, outcomes: readonly Outcome[]): Promise<void> {
  if (outcomes.length === 0) return
  await sql`
    update deliveries d set state = case when n.error is null then 'done' else 'failed' end, error = n.error,
      processed = now()
    from json_to_recordset(${JSON.stringify(outcomes)}::json) as n(id bigint, error text)
    where d.id = n.id`.execute(trx)
}
