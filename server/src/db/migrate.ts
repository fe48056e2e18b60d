// Migrates a database to the schema of this code: plain SQL files, each applied once, in order, in its own transaction. An applied
// file never changes; a database that is newer than the code is refused.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClientBase } from 'pg'
import { errorCode, errorText } from './errno.ts'

export type Migration = {
  readonly number: number
  /** `001-foundation.sql` */
  readonly file: string
  readonly sql: string
  readonly sha256: string
}

/** The database and the migrations do not match; the message contains the solution. */
export class MigrationError extends Error {}

export type MigrationResult = { readonly applied: readonly string[]; readonly version: number }

export const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url))

/** One key serves all databases of a server: advisory locks are per database. */
const LOCK_KEY = 0x70_68_61_72
/** The major version of PostgreSQL that Pharos needs at least: that of Debian 12. */
export const lowestMajor = 15

/** The files of a folder in the order of their numbers. */
export function listMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const migrations = files.sort().map((file) => readMigration(folder, file))
  for (const [index, { number, file }] of migrations.entries()) {
    if (number !== index + 1) {
      throw new MigrationError(
        `${file}: migrations are numbered 001, 002, ... without gaps; number ${index + 1} is expected.`,
      )
    }
  }
  return migrations
}

function readMigration(folder: string, file: string): Migration {
  const number = /^(\d{3})-[a-z0-9-]+\.sql$/.exec(file)?.[1]
  if (number === undefined)
    throw new MigrationError(`${file}: a migration is named NNN-title.sql, lower case.`)
  const sql = readFileSync(join(folder, file), 'utf8')
  return { number: Number(number), file, sql, sha256: createHash('sha256').update(sql).digest('hex') }
}

/**
 * Applies missing migrations and returns them. `client` is a dedicated connection (`directConnection()`), because the lock belongs
 * to the session: of several processes that start at once, one migrates and the others wait.
 */
export async function migrate(
  client: ClientBase,
  folder: string = migrationsFolder,
): Promise<MigrationResult> {
  const migrations = listMigrations(folder)
  await assertServerVersion(client)
  await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
  try {
    await client.query(`
      create table if not exists migrations (
        number integer primary key,
        file text not null,
        sha256 text not null,
        applied timestamptz not null default now()
      )`)
    const done = await client.query<Migration>('select number, file, sha256 from migrations order by number')
    assertHistory(done.rows, migrations)
    const missing = migrations.slice(done.rows.length)
    for (const migration of missing) await apply(client, migration)
    return { applied: missing.map(({ file }) => file), version: migrations.length }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => {})
  }
}

/** Returns the migrations that `migrate` would apply; changes nothing. Throws as `migrate` does. */
export async function pendingMigrations(
  client: ClientBase,
  folder: string = migrationsFolder,
): Promise<readonly string[]> {
  const migrations = listMigrations(folder)
  await assertServerVersion(client)
  const { rows } = await client.query<{ known: boolean }>(
    `select to_regclass('migrations') is not null as known`,
  )
  if (!rows[0]?.known) return migrations.map(({ file }) => file)
  const done = await client.query<Migration>('select number, file, sha256 from migrations order by number')
  assertHistory(done.rows, migrations)
  return migrations.slice(done.rows.length).map(({ file }) => file)
}

async function assertServerVersion(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    `select current_setting('server_version_num') as version`,
  )
  const major = Math.floor(Number(rows[0]?.version) / 10_000)
  if (major < lowestMajor)
    throw new MigrationError(`PostgreSQL ${major} is too old: Pharos needs ${lowestMajor} or later.`)
}

function assertHistory(
  done: readonly Pick<Migration, 'number' | 'file' | 'sha256'>[],
  known: readonly Migration[],
): void {
  for (const [index, row] of done.entries()) {
    const migration = known[index]
    if (migration === undefined) {
      throw new MigrationError(
        `The database is newer than this Pharos: it contains ${row.file}, this code knows ${known.length} migrations. ` +
          'Start the newer Pharos, or restore the backup that was made before the upgrade.',
      )
    }
    if (migration.number !== row.number || migration.sha256 !== row.sha256) {
      throw new MigrationError(
        `${migration.file} is not the file that was applied to this database (${row.file}). An applied migration is ` +
          'never edited: restore the file and put the change into a new one.',
      )
    }
  }
}

async function apply(client: ClientBase, { number, file, sql, sha256 }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into migrations (number, file, sha256) values ($1, $2, $3)', [
      number,
      file,
      sha256,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new MigrationError(
      `${file}${lineOf(sql, error)}: ${errorText(error)} (SQLSTATE ${errorCode(error) ?? 'none'})`,
      {
        cause: error,
      },
    )
  }
}

/** PostgreSQL counts characters; `:12` is easier to find. */
function lineOf(sql: string, error: unknown): string {
  const position = Number((error as { position?: unknown }).position)
  return Number.isInteger(position)
    ? `:${[...sql].slice(0, position - 1).filter((c) => c === '\n').length + 1}`
    : ''
}
