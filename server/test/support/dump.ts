// Dumps of databases of past releases: all rows as lines `table<TAB>row as JSON`. The schema comes from the migrations
// up to the dump's number, which never change; the rows of the table `migrations` contain their hashes.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Client } from 'pg'
import { listMigrations, migrationsFolder } from '../../src/db/migrate.ts'
import type { Db } from '../../src/db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../../src/db/testing.ts'
import { listTables } from './generated-rows.ts'

/** A row as the text of a JSON object, because numbers may exceed the range of JavaScript. */
export type DumpedRow = { readonly table: string; readonly row: string }

/** Reads all rows in a fixed order, without generated columns. The rows of a partitioned table are read from its partitions. */
export async function readRows(db: Db): Promise<DumpedRow[]> {
  const dumped: DumpedRow[] = []
  for (const { name, columns } of await listTables(db)) {
    const generated = columns.filter(({ isGenerated }) => isGenerated).map((column) => column.name)
    const { rows } = await sql<{ row: string }>`
      select row from (select (to_jsonb(t) - ${generated}::text[])::text as row from ${sql.table(name)} t) texts
      order by row collate "C"`.execute(db)
    dumped.push(...rows.map(({ row }) => ({ table: name, row })))
  }
  return dumped
}

/** Returns the text of a dump file. */
export const formatDump = (rows: readonly DumpedRow[]): string =>
  rows.map(({ table, row }) => `${table}\t${row}\n`).join('')

/** Parses the text of a dump file. */
function parseDump(text: string): DumpedRow[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const at = line.indexOf('\t')
    return { table: line.slice(0, at), row: line.slice(at + 1) }
  })
}

/** Creates a database with the schema after the given number of migrations and only the rows of the dump. */
export async function restoreDump(version: number, rows: readonly DumpedRow[]): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
  try {
    for (const { file } of listMigrations(migrationsFolder).slice(0, version))
      copyFileSync(join(migrationsFolder, file), join(folder, file))
    const database = await createTestDatabase({ migrations: folder })
    const client = await database.postgres.directConnection()
    try {
      await insertRows(database.postgres.owner, client, rows)
    } finally {
      await client.end()
    }
    return database
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Triggers and foreign keys are disabled: the rows were valid when they were dumped. */
async function insertRows(db: Db, client: Client, rows: readonly DumpedRow[]): Promise<void> {
  const tables = (await listTables(db)).map(({ name }) => name)
  await client.query('set session_replication_role = replica')
  await client.query(`truncate ${tables.join(', ')} cascade`)
  for (const { table, row } of rows) {
    const columns = Object.keys(JSON.parse(row) as object).join(', ')
    await client.query(
      `insert into ${table} (${columns}) overriding system value
      select ${columns} from jsonb_populate_record(null::${table}, $1)`,
      [row],
    )
  }
  await client.query('set session_replication_role = origin')
  await advanceSequences(client)
}

async function advanceSequences(client: Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(`
    select c.oid::regclass::text as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and a.attidentity <> '' and not c.relispartition`)
  for (const { table, column } of rows)
    await client.query(`
      select setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 0) + 1, false) from ${table}`)
}

export const dumpsFolder = join(import.meta.dirname, '../dumps')

/** Reads a dump from its file, such as `012-former.tsv`. */
export const readDump = (file: string): DumpedRow[] =>
  parseDump(readFileSync(join(dumpsFolder, file), 'utf8'))
