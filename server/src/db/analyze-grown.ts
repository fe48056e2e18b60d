// Keeps PostgreSQL's plans up to date while tables grow fast. A connection keeps the plans of its prepared statements, and one made for a few rows
// reads the whole table again each time. Autovacuum would cause new plans up to a minute later, and not at all if it is off.
import { sql } from 'kysely'
import type { Db, Trx } from './postgres.ts'
import type { Schema } from './schema.ts'

/**
 * Analyzes tables that have at least doubled since they were last analyzed, so that every connection plans again. Never
 * waits: a table that another transaction analyzes is skipped. Call it after writing.
 */
export async function analyzeGrown(db: Db | Trx, tables: readonly (keyof Schema)[]): Promise<void> {
  const { rows } = await sql<{ relname: string }>`
    select relname from pg_class
    where oid = any(${tables}::text[]::regclass[])
      and pg_relation_size(oid) >= 2 * greatest(relpages, 1) * current_setting('block_size')::bigint`.execute(
    db,
  )
  if (rows.length === 0) return
  const grown = rows.map(({ relname }) => sql.table(relname))
  await sql`analyze (skip_locked) ${sql.join(grown)}`.execute(db)
}
