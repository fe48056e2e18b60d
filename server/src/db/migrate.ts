// Migrates a database to the schema of this code: plain SQL files, each applied once, in order, in its own transaction.
// An applied file never changes. Releases next to each other run on one schema at the same time: expand steps are
// applied while the older one runs, contract steps when all its processes have ended (decision 099).
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { compareVersions, version as ownVersion } from '../runtime/version.ts'
import { errorCode, errorText } from './errno.ts'
import { formerHistory, isFormerHistory, type FormerHistory } from './former-history.ts'
import { listMigrations, MigrationError, migrationsFolder, type Migration } from './migration-file.ts'
import { assertFloor, assertNoneOlder, raiseSchemaFloor } from './schema-floor.ts'

export { MigrationError, migrationsFolder, listMigrations } from './migration-file.ts'

export type MigrateOptions = {
  readonly folder?: string
  /**
   * `expand` (default): all that the processes of the release before still run with. `finish`: contract steps too; refused while an older
   * process runs. `all`: the same without looking for processes, for a database that no other process uses. A new database gets all.
   */
  readonly steps?: 'expand' | 'finish' | 'all'
  /** The release that migrates, if it is not this one. */
  readonly version?: string
  /** The history that the first files have replaced, if it is not the product's. */
  readonly former?: FormerHistory
}

export type MigrationResult = {
  readonly applied: readonly string[]
  /** Contract steps that wait for `finish`. */
  readonly waiting: readonly string[]
  /** The number of the last step that is applied. */
  readonly version: number
}

type AppliedRow = Pick<Migration, 'number' | 'file' | 'sha256'> & { readonly runs_with: string | null }

/** One key serves all databases of a server: advisory locks are per database. */
const LOCK_KEY = 0x70_68_61_72
/** The major version of PostgreSQL that Pharos needs at least: that of Debian 12. */
export const lowestMajor = 15
/** Statements of running processes queue behind a step that waits for a lock: it gives up soon, and is tried again. */
const lockTimeoutMs = 2_000
const lockAttempts = 20
const lockPauseMs = 1_000

/**
 * Applies missing migrations and returns them. `client` is a dedicated connection (`directConnection()`), because the
 * lock belongs to the session: if several processes start together, one migrates and the others wait.
 */
export async function migrate(
  client: ClientBase,
  {
    folder = migrationsFolder,
    steps = 'expand',
    version = ownVersion,
    former = formerHistory,
  }: MigrateOptions = {},
): Promise<MigrationResult> {
  const migrations = listMigrations(folder)
  await assertServerVersion(client)
  await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
  try {
    await createHistory(client)
    const done = await readApplied(client, migrations, { version, former })
    await replaceFormerHistory(client, migrations, former)
    const pending = migrations.slice(done.length)
    const isNew = done.length === 0
    const isLast = isNew || steps !== 'expand'
    const next = isLast ? pending : withoutContractAtEnd(pending)
    if (steps === 'finish') await assertNoneOlder(client, version)
    else if (!isNew && steps === 'expand') await assertNoneNeeds(client, next)
    // Before removing parts that older releases need: they can no longer start.
    if (isLast) await raiseSchemaFloor(client, version)
    for (const migration of next) await applyUnderLoad(client, migration)
    // A new database has the row only now.
    if (isLast) await raiseSchemaFloor(client, version)
    return {
      applied: next.map(({ file }) => file),
      waiting: pending.slice(next.length).map(({ file }) => file),
      version: done.length + next.length,
    }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => {})
  }
}

async function createHistory(client: ClientBase): Promise<void> {
  await client.query(`
    create table if not exists migrations (
      number integer primary key,
      file text not null,
      sha256 text not null,
      applied timestamptz not null default now(),
      phase text check (phase in ('expand', 'contract')),
      runs_with text
    )`)
}

/** Replaces the former history, if the database has it, by that of the files with the same result, in one transaction. */
async function replaceFormerHistory(
  client: ClientBase,
  migrations: readonly Migration[],
  former: FormerHistory,
): Promise<void> {
  if (!isFormerHistory(await readHistory(client), former)) return
  await client.query('begin')
  try {
    await client.query('delete from migrations')
    for (const migration of migrations.slice(0, former.files)) await insertStep(client, migration)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Returns the migrations that `migrate` would apply, without contract steps that may still wait. Throws as `migrate`
 * does, also if this release is too old for the database.
 */
export async function pendingMigrations(
  client: ClientBase,
  {
    folder = migrationsFolder,
    version = ownVersion,
    former = formerHistory,
  }: Pick<MigrateOptions, 'folder' | 'version' | 'former'> = {},
): Promise<readonly string[]> {
  const migrations = listMigrations(folder)
  await assertServerVersion(client)
  const { rows } = await client.query<{ known: boolean }>(
    `select to_regclass('migrations') is not null as known`,
  )
  if (!rows[0]?.known) return migrations.map(({ file }) => file)
  const done = await readApplied(client, migrations, { version, former })
  return withoutContractAtEnd(migrations.slice(done.length)).map(({ file }) => file)
}

/**
 * Contract steps before an expand step belong to an earlier release, and are applied first, in the order of the files.
 */
const withoutContractAtEnd = (pending: readonly Migration[]): readonly Migration[] =>
  pending.slice(0, pending.findLastIndex(({ phase }) => phase !== 'contract') + 1)

/** Throws if a running process is older than a contract step among these allows. */
async function assertNoneNeeds(client: ClientBase, steps: readonly Migration[]): Promise<void> {
  for (const { phase, runsWith } of steps)
    if (phase === 'contract') {
      await assertNoneOlder(client, runsWith!)
      await raiseSchemaFloor(client, runsWith!)
    }
}

async function assertServerVersion(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    `select current_setting('server_version_num') as version`,
  )
  const major = Math.floor(Number(rows[0]?.version) / 10_000)
  if (major < lowestMajor)
    throw new MigrationError(`PostgreSQL ${major} is too old: Pharos needs ${lowestMajor} or later.`)
}

/** Returns the applied steps of the known ones, in order; throws if the database has steps with which this release does not work. */
async function readApplied(
  client: ClientBase,
  known: readonly Migration[],
  { version, former }: { readonly version: string; readonly former: FormerHistory },
): Promise<readonly Pick<Migration, 'file'>[]> {
  const rows = await readHistory(client)
  await assertFloor(client, version)
  if (isFormerHistory(rows, former)) return known.slice(0, former.files)
  const [ours, newer] = [rows.slice(0, known.length), rows.slice(known.length)]
  for (const [index, row] of ours.entries()) assertSame(row, known[index]!)
  for (const { file, runs_with } of newer) {
    if (runs_with !== null && compareVersions(runs_with, version) <= 0) continue
    throw new MigrationError(
      `The database is newer than this Pharos ${version}: it contains ${file}` +
        `${runs_with === null ? '' : `, which needs Pharos ${runs_with} or later`}. Start the newer Pharos, or restore the backup ` +
        'that was made before the upgrade.',
    )
  }
  return ours
}

async function readHistory(client: ClientBase): Promise<AppliedRow[]> {
  // A database from before 0.2.0 has no column runs_with.
  const { rows } = await client.query<AppliedRow>(
    `select number, file, sha256, to_jsonb(m) ->> 'runs_with' as runs_with from migrations m order by number`,
  )
  return rows
}

function assertSame(row: AppliedRow, migration: Migration): void {
  if (migration.number === row.number && migration.sha256 === row.sha256) return
  throw new MigrationError(
    `${migration.file} is not the file that was applied to this database (${row.file}). An applied migration is ` +
      'never edited: restore the file and put the change into a new one.',
  )
}

/** Retries a step while another transaction, such as a backup, has a lock that it needs. */
async function applyUnderLoad(client: ClientBase, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply(client, migration)
    } catch (error) {
      if (errorCode((error as Error).cause) !== '55P03' || attempt === lockAttempts) throw error
      await sleep(lockPauseMs)
    }
  }
}

async function insertStep(
  client: ClientBase,
  { number, file, sha256, phase, runsWith }: Migration,
): Promise<void> {
  await client.query(
    'insert into migrations (number, file, sha256, phase, runs_with) values ($1, $2, $3, $4, $5)',
    [number, file, sha256, phase, runsWith],
  )
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  const { file, sql, phase } = migration
  await client.query('begin')
  try {
    if (phase !== null) await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await client.query(sql)
    await insertStep(client, migration)
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
