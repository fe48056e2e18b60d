// The SQL of a replay.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'

/** Selects the deliveries to replay; all by default. */
export type ReplayOptions = {
  /** Only deliveries of this source. */
  readonly sourceKey?: string
  /** Only deliveries received at this time or later. */
  readonly since?: Date
  /**
   * `failed`: only deliveries that could not be parsed, completely or in part; `done`: only deliveries that produced
   * events, also in part.
   */
  readonly state?: 'failed' | 'done'
}

/**
 * Every delivery of an event was received after the event began, so events that began after the oldest kept delivery of
 * the replay can be rebuilt from the kept deliveries.
 */
export async function markEventsForRebuild(db: Db, { sourceKey, since }: ReplayOptions): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update events e set merge_state = null
    from (select source_key, min(received) as oldest from deliveries
      where state in ('done', 'partial', 'failed') and (${sourceKey ?? null}::text is null or source_key = ${sourceKey ?? null})
        and (${since ?? null}::timestamptz is null or received >= ${since ?? null})
      group by source_key) d
    where e.source_key = d.source_key and e.start_at >= coalesce(${since ?? null}::timestamptz, d.oldest)`.execute(
    db,
  )
  return Number(numAffectedRows)
}

/** Marks the next deliveries after `after` as new, and returns their ids. */
export async function markDeliveriesNew(
  trx: Trx,
  { sourceKey, since, state }: ReplayOptions,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    update deliveries d set state = 'new', error = null, processed = null, notes = '[]', event_count = null, event_ids = '{}'
    from (select id, received from deliveries
      where id > ${after} and state = any(${statesOf(state)})
        and (${sourceKey ?? null}::text is null or source_key = ${sourceKey ?? null})
        and (${since ?? null}::timestamptz is null or received >= ${since ?? null})
      order by id limit ${limit} for update skip locked) n
    where d.id = n.id and d.received = n.received
    returning d.id`.execute(trx)
  return rows.map(({ id }) => id)
}

function statesOf(state: ReplayOptions['state']): readonly string[] {
  if (state === 'failed') return ['partial', 'failed']
  // Events are rebuilt from all that they were made of.
  return state === 'done' ? ['done', 'partial'] : ['done', 'partial', 'failed']
}
