// The SQL of deliveries: the bodies as detectors sent them, byte for byte, and their state.
import { createHash } from 'node:crypto'
import type { listDeliveriesRoute } from '@pharos/contract/events/delivery'
import type { StoredNote } from '@pharos/contract/events/delivery-note'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, withExpressions, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { ReadState } from './parse-delivery.ts'

export type NewDelivery = {
  readonly sourceKey: string
  readonly deliveryId: string
  readonly contentType: string | null
  readonly body: Buffer
}

/**
 * Inserts the delivery, unless the source has sent this delivery id before: then the first delivery stays, and the
 * result is `repeated` for the same body and `another` for another one.
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

export type SourceDelivery = {
  readonly id: number
  readonly sourceKey: string
  readonly received: Date
  readonly body: Buffer
}

/**
 * Locks the next new deliveries, oldest first, skipping locked ones: at most `limit`, and at most `bytesMax` in total,
 * but at least one.
 */
export async function claimDeliveries(trx: Trx, limit: number, bytesMax: number): Promise<SourceDelivery[]> {
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

/** The result of a processed delivery. */
export type DeliveryOutcome = {
  readonly id: number
  readonly state: ReadState
  readonly error: string | null
  readonly notes: readonly StoredNote[]
  readonly event_count: number
  readonly event_ids: readonly string[]
}

/** Saves the results; deliveries that could not be read completely are kept for a replay. */
export async function saveOutcomes(trx: Trx, outcomes: readonly DeliveryOutcome[]): Promise<void> {
  if (outcomes.length === 0) return
  await sql`
    update deliveries d set state = n.state, error = n.error, notes = n.notes, event_count = n.event_count,
      event_ids = n.event_ids, processed = now()
    from json_to_recordset(${JSON.stringify(outcomes)}::json)
      as n(id bigint, state text, error text, notes jsonb, event_count integer, event_ids text[])
    where d.id = n.id`.execute(trx)
}

const listed = columns(
  'deliveries',
  'd',
  [
    'id',
    'delivery_id',
    'source_key',
    'received',
    'content_type',
    'state',
    'error',
    'processed',
    'event_count',
  ],
  {
    bytes: sql<number>`octet_length(d.body)`,
    note_count: sql<number>`jsonb_array_length(d.notes)`,
  },
)
export type EventDeliveryRow = RowOf<typeof listed>

export const listEventDeliveryRows = (
  db: Db,
  query: QueryOf<typeof listDeliveriesRoute>,
): Promise<Page<EventDeliveryRow>> =>
  listAll(db, {
    matching: sql`
      select d.* from deliveries d where true ${andAll(
        query.source_key && sql`d.source_key = any(${query.source_key}::text[])`,
        query.delivery_id && sql`d.delivery_id = any(${query.delivery_id}::text[])`,
        query.state && sql`d.state = any(${query.state}::text[])`,
        query.start !== undefined && sql`d.received >= ${query.start}`,
        query.end !== undefined && sql`d.received <= ${query.end}`,
      )}`,
    columns: listed,
    order: orderBy(query.ordering, { id: sql`d.id`, received: sql`d.received` }, sql`d.id`, 'not null'),
    slice: query,
  })

const detailed = withExpressions(listed, {
  notes: sql<StoredNote[]>`d.notes`,
  event_ids: sql<string[]>`d.event_ids`,
  body: sql<Buffer>`d.body`,
})
export type DeliveryDetailRow = RowOf<typeof detailed>

/** Returns the delivery, unless it is of another source than the given one. */
export async function findSourceDelivery(
  db: Db,
  id: number,
  source: string | undefined,
): Promise<DeliveryDetailRow | undefined> {
  const { rows } = await sql<DeliveryDetailRow>`
    select ${detailed} from deliveries d
    where d.id = ${id}::bigint ${andAll(source !== undefined && sql`d.source_key = ${source}`)}`.execute(db)
  return rows[0]
}

/** Returns the deliveries with the id of a sender, of one source or of each that has sent it. There is an index by source and id. */
export async function findSentDeliveries(
  db: Db,
  deliveryId: string,
  source: string | undefined,
): Promise<DeliveryDetailRow[]> {
  const { rows } = await sql<DeliveryDetailRow>`
    select ${detailed} from sources s join deliveries d on d.source_key = s.key and d.delivery_id = ${deliveryId}
    where true ${andAll(source !== undefined && sql`s.key = ${source}`)}
    order by s.key limit 10`.execute(db)
  return rows
}
