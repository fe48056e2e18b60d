// Keeps PostgreSQL plans of the event lists up to date while their tables grow fast. A connection keeps the plans of its
// prepared statements, and one made for a few rows reads the whole table again for each facet. Autovacuum would cause new
// plans up to a minute later, and not at all if it is off.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

/**
 * Analyzes those tables that have at least doubled since they were last analyzed, which makes every connection plan
 * again. Never waits: a table that another transaction analyzes is skipped. Call it after writing.
 */
export async function analyzeGrown(trx: Trx): Promise<void> {
  const { rows } = await sql<{ relname: string }>`
    select relname from pg_class
    where oid = any(array['team_events', 'team_event_facets', 'team_event_counts', 'team_event_hours']::regclass[])
      and pg_relation_size(oid) >= 2 * greatest(relpages, 1) * current_setting('block_size')::bigint`.execute(
    trx,
  )
  if (rows.length === 0) return
  const tables = rows.map(({ relname }) => sql.table(relname))
  await sql`analyze (skip_locked) ${sql.join(tables)}`.execute(trx)
}
