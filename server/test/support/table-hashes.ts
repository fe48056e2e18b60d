// Hashes of the contents of each table: for tests that assert that nothing was changed. All tables are covered, including future
// ones. Only tables that were written since the last call are read again.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'

/** Columns that a refused call may write: the last use of a credential is recorded before authorization. */
const notedColumns: Record<string, readonly string[]> = {
  api_tokens: ['last_used', 'last_used_address'],
  staff_tokens: ['last_used', 'last_used_address'],
}

/** Rows that a refused call may write, up to a second later: the audit of the refusal. */
const notedRows: Record<string, string> = {
  audit_entries: `r->>'action' like '%.refuse'`,
  audit_unsealed: 'true',
}

/** The count of failed sign-ins, which delays the next attempt. */
const countedTable = 'sign_in_failures'
const noteTable = 'test_written_tables'

/** Returns all tables with the name under which their rows are compared; a partition has the name of its parent. */
async function listTables(db: Db): Promise<{ name: string; whole: string }[]> {
  const { rows } = await sql<{ name: string; whole: string }>`
    select c.relname as name, coalesce(p.relname, c.relname) as whole
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and c.relname not in (${countedTable}, ${noteTable})
    order by c.relname`.execute(db)
  return rows
}

/** Records each statement that writes a table, from any connection, including statements that change no row. */
async function noteWrites(db: Db, tables: readonly { name: string; whole: string }[]): Promise<void> {
  await sql`create unlogged table if not exists ${sql.table(noteTable)} (name text not null)`.execute(db)
  await sql`
    create or replace function test_note_write() returns trigger language plpgsql security definer
    set search_path = public as $$
    begin
      insert into test_written_tables values (tg_argv[0]);
      return null;
    end $$`.execute(db)
  for (const { name, whole } of tables)
    await sql`create or replace trigger test_note_write after insert or update or delete or truncate
      on ${sql.table(name)} for each statement execute function test_note_write(${sql.lit(whole)})`.execute(
      db,
    )
}

export type TableHashes = Readonly<Record<string, string>>

export type TableHasher = {
  /** Returns a hash of the rows of each table. */
  hash(): Promise<TableHashes>
  /** Reads all tables at the next call: required after writes while the triggers were disabled. */
  reset(): void
}

/** Installs the triggers and returns the hasher. */
export async function createTableHasher(db: Db): Promise<TableHasher> {
  const tables = await listTables(db)
  await noteWrites(db, tables)
  const names = [...new Set(tables.map(({ whole }) => whole))]
  let known: Record<string, string> = {}
  const read = async (stale: readonly string[]): Promise<void> => {
    const statement = sql.join(stale.map(hashOf), sql` union all `)
    const { rows } = await sql<{ name: string; hash: string }>`${statement}`.execute(db)
    known = { ...known, ...Object.fromEntries(rows.map(({ name, hash }) => [name, hash])) }
  }
  return {
    async hash() {
      // A write that commits between the two statements is read now and again at the next call.
      const written = await sql<{ name: string }>`
        with gone as (delete from ${sql.table(noteTable)} returning name) select distinct name from gone`.execute(
        db,
      )
      const stale = new Set(written.rows.map(({ name }) => name))
      const unread = names.filter((name) => stale.has(name) || known[name] === undefined)
      if (unread.length > 0) await read(unread)
      return known
    },
    reset() {
      known = {}
    },
  }
}

function hashOf(table: string) {
  const noted = notedColumns[table] ?? []
  const isNoted = sql.raw(notedRows[table] ?? 'false')
  return sql`select ${sql.lit(table)} as name, md5(coalesce(string_agg(r::text, chr(10) order by r::text), '')) as hash
    from (select to_jsonb(t) - ${noted}::text[] as r from ${sql.table(table)} t) rows where not (${isNoted})`
}

/** Returns the names of the tables that differ. */
export function changedTables(before: TableHashes, after: TableHashes): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name])
}
