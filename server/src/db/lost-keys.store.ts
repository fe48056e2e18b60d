// The SQL of values whose key is lost. It also runs on the schema of an older release, before the migration.
import { sql } from 'kysely'
import type { Db } from './postgres.ts'

/** Returns every column of the schema, such as `mails.content_sealed`. */
export async function findColumns(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`.execute(
    db,
  )
  return new Set(rows.map(({ name }) => name))
}

export async function countRows(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
  return rows[0]!.count
}

/** `hasColumn`: false before the migration that adds it. */
export async function readAcceptedKeys(db: Db, hasColumn: boolean): Promise<ReadonlySet<string>> {
  if (!hasColumn) return new Set()
  const { rows } = await sql<{ key: string }>`select unnest(lost_keys) as key from installation`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

export async function acceptLostKeys(db: Db, keys: readonly string[]): Promise<void> {
  await sql`
    update installation set lost_keys = array(
      select unnest(lost_keys) union select unnest(${keys}::text[]) order by 1)`.execute(db)
}
