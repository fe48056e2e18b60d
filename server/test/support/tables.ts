// What a database holds, as one text per table: for tests that say "and nothing was changed". It reads every table that
// there is, so that a new one cannot be forgotten.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'

/** Columns that a refused call may write: when a credential was used last is noted before what it asks for is judged. */
const notedColumns: Record<string, readonly string[]> = { api_tokens: ['last_used', 'last_used_address'] }

/** Rows that a refused call may leave behind, up to a second later: that it was refused. */
const notedRows: Record<string, string> = {
  audit_entries: `r->>'action' like '%.refuse'`,
  audit_unsealed: 'true',
}

/** A sign-in that fails is counted: that is what makes the next one wait. */
const countedTable = 'sign_in_failures'

/** The names of all other tables; a partitioned one stands for its partitions. */
async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> ${countedTable}
    order by relname`.execute(db)
  return rows.map(({ name }) => name)
}

export type TableHashes = Readonly<Record<string, string>>

/** A function that answers a hash of the rows of each table, from one snapshot. */
export async function createTableHasher(db: Db): Promise<() => Promise<TableHashes>> {
  const tables = await listTables(db)
  const hashes = tables.map((table) => {
    const noted = notedColumns[table] ?? []
    const isNoted = sql.raw(notedRows[table] ?? 'false')
    return sql`select ${table} as name, md5(coalesce(string_agg(r::text, chr(10) order by r::text), '')) as hash
      from (select to_jsonb(t) - ${noted}::text[] as r from ${sql.table(table)} t) rows where not (${isNoted})`
  })
  const statement = sql<{ name: string; hash: string }>`${sql.join(hashes, sql` union all `)}`
  return async () => {
    const { rows } = await statement.execute(db)
    return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]))
  }
}

/** The tables that differ. */
export function changedTables(before: TableHashes, after: TableHashes): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name])
}
