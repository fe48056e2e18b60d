// Migrates a ClickHouse database to the tables of this code: plain SQL files, each applied once, in order. ClickHouse
// has neither transactions nor locks, so every statement must be repeatable (`if not exists`): several processes may
// apply a file at the same time, and an interrupted file is applied again.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DriverError } from '../../runtime/driver-error.ts'
import type { ClickHouseConnection } from './client.ts'
import { retentionOf, type Retention } from './retention.ts'

const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url))

type Migration = { readonly file: string; readonly statements: readonly string[]; readonly sha256: string }

/** The files in the order of their numbers, which may have gaps while parts are developed side by side. */
function listMigrations(): Migration[] {
  const files = readdirSync(migrationsFolder).filter((file) => /^\d{3}-[a-z0-9-]+\.sql$/.test(file))
  return files.sort().map((file) => {
    const text = readFileSync(join(migrationsFolder, file), 'utf8')
    return {
      file,
      statements: splitStatements(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    }
  })
}

/** Splits at semicolons that end a line; comments are removed. */
const splitStatements = (text: string): string[] =>
  text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

/** Applies missing migrations, and the retention if it is another one. Throws DriverError. */
export async function migrateClickHouse(
  connection: ClickHouseConnection,
  retention: Retention,
): Promise<void> {
  await connection.command(`create table if not exists migrations (
    file String, sha256 String, applied DateTime('UTC') default now()
  ) engine = ReplacingMergeTree order by file`)
  const done = await connection.query<{ file: string; sha256: string }>(
    'select file, sha256 from migrations final order by file',
    {},
  )
  const known = listMigrations()
  assertHistory(done, known)
  for (const { file, statements, sha256 } of known.filter(
    ({ file }) => !done.some((row) => row.file === file),
  )) {
    for (const statement of statements) await connection.command(statement)
    await connection.command('insert into migrations (file, sha256) select {file:String}, {sha256:String}', {
      file,
      sha256,
    })
  }
  await applyRetention(connection, retention)
}

function assertHistory(done: readonly { file: string; sha256: string }[], known: readonly Migration[]): void {
  for (const { file, sha256 } of done) {
    const migration = known.find((one) => one.file === file)
    if (migration === undefined) {
      throw new DriverError(
        'protocol',
        `The flow store is newer than this Pharos: it contains ${file}. Start the newer Pharos, or use another database.`,
      )
    }
    if (migration.sha256 !== sha256) {
      throw new DriverError(
        'protocol',
        `${file} is not the file that was applied to the flow store. An applied migration is never edited: restore the file ` +
          'and put the change into a new one.',
      )
    }
  }
}

async function applyRetention(connection: ClickHouseConnection, retention: Retention): Promise<void> {
  const tables = await connection.query<{ name: string; definition: string }>(
    'select name, engine_full as definition from system.tables where database = currentDatabase()',
    {},
  )
  for (const { name, definition } of tables) {
    const days = Object.hasOwn(retentionOf, name) ? retention[retentionOf[name]!] : undefined
    if (days === undefined || definition.includes(`TTL time + toIntervalDay(${days})`)) continue
    await connection.command(`alter table ${name} modify ttl time + toIntervalDay(${days})`)
  }
}
