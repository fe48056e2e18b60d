// Deletes deliveries after a time: the raw reports of detectors. Events that were made from them stay.
import { sql } from 'kysely'
import { deleteInBatches } from '../../db/retention.ts'
import type { Db } from '../../db/postgres.ts'

/** Deletes deliveries that were received more than `days` ago and are processed; returns their number. */
export const expireDeliveries = (db: Db, days: number, signal: AbortSignal): Promise<number> =>
  deleteInBatches(signal, (limit) => deleteBatch(db, days, limit))

async function deleteBatch(db: Db, days: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with old as materialized (
      select d.id, d.received from sources s cross join lateral (
        select id, received from deliveries
        where source_key = s.key and received < now() - make_interval(days => ${days}) and state <> 'new'
        order by received limit ${limit}) d
      limit ${limit}),
    gone as (
      delete from deliveries d using old where (d.id, d.received) = (old.id, old.received)
      returning d.source_key, d.delivery_id),
    forgotten as (
      delete from delivery_ids i using gone where (i.source_key, i.delivery_id) = (gone.source_key, gone.delivery_id))
    select count(*) as count from gone`.execute(db)
  return rows[0]!.count
}
