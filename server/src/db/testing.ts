// A separate database for each test file: a clone of a migrated template, on one server that all test processes of this
// checkout share. Only tests import this file. PHAROS_TEST_DATABASE_URL runs the same tests on another PostgreSQL (its
// user must be allowed to create databases).
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { Client } from 'pg'
import { socketUrl } from './embedded-cluster.ts'
import { findPostmaster } from './embedded-orphan.ts'
import { listMigrations, migrate, migrationsFolder } from './migrate.ts'
import { openPostgres, type Db, type Postgres, type PostgresOptions } from './postgres.ts'
import { tryProcessLock } from '../runtime/process-lock.ts'

export type TestDatabaseOptions = {
  /** Another folder of migrations instead of the product's. */
  readonly migrations?: string
  /** A separate server with the product's settings, for tests that kill it. Its data directory is `dataDir`. */
  readonly durable?: boolean
  readonly postgres?: Partial<Omit<PostgresOptions, 'databaseUrl' | 'dataDir'>>
}

export type TestDatabase = {
  readonly databaseUrl: string
  readonly postgres: Postgres
  /** Set if the test requested a separate server. */
  readonly dataDir: string | undefined
  [Symbol.asyncDispose](): Promise<void>
}

const START_TIMEOUT_MS = 300_000
const TIMEOUT_FACTOR = 6
/**
 * Locked shared by every process that uses the server; the keeper ends the server when it gets the lock exclusively.
 */
export const USERS_LOCK = 1
const TEMPLATE_LOCK = 2

/**
 * `await using database = await createTestDatabase()`: migrated and empty, and dropped at the end of the scope. Copying the files of
 * the template takes a third of the time of copying through the WAL, the default.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  if (options.durable) return await createOwnServer(options)
  const server = await useServer()
  const template = await ensureTemplate(server, options.migrations ?? migrationsFolder)
  const name = `pharos_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await server.admin((client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  )
  const databaseUrl = server.urlOf(name)
  const postgres = await openPostgres({
    timeoutFactor: TIMEOUT_FACTOR,
    ...options.postgres,
    databaseUrl,
    dataDir: '',
  })
  return {
    databaseUrl,
    postgres,
    dataDir: undefined,
    async [Symbol.asyncDispose]() {
      await postgres.stop()
      await server.admin((client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}

/**
 * Deletes the rows of the tables and of all tables that refer to them, without their triggers; with `restart`, ids begin again. It
 * takes a tenth to a quarter of the time of TRUNCATE, which makes new files for each of their tables and indexes.
 */
export async function emptyTables(
  db: Db,
  tables: readonly string[],
  options: { readonly restart?: boolean } = {},
): Promise<void> {
  const affected = await findAffected(db, tables)
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx)
    await sql`do ${sql.lit(emptying(affected, options.restart ?? false))}`.execute(trx)
  })
}

type Reference = { readonly table: string; readonly to: string }
const referencesOf = new WeakMap<Db, Promise<readonly Reference[]>>()

/** The tables, and all that refer to them. The references are read once: to find them takes longer than to delete a few rows. */
async function findAffected(db: Db, tables: readonly string[]): Promise<string[]> {
  const references = await referencesOf.getOrInsertComputed(db, readReferences)
  const affected = new Set(tables)
  for (const one of affected) for (const { table, to } of references) if (to === one) affected.add(table)
  return [...affected]
}

/** Without the partitions, whose rows go with those of their table. */
async function readReferences(db: Db): Promise<readonly Reference[]> {
  const { rows } = await sql<Reference>`
    select distinct c.conrelid::regclass::text as table, c.confrelid::regclass::text as to
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'f' and not t.relispartition`.execute(db)
  return rows
}

const emptying = (affected: readonly string[], restart: boolean): string => `
  declare
    affected regclass[] := '{${affected.join()}}';
    one regclass;
    has_rows boolean;
  begin
    foreach one in array affected loop
      execute format('select exists (select from %s)', one) into has_rows;
      if has_rows then execute format('delete from %s', one); end if;
    end loop;
    if ${restart} then
      perform setval(seqrelid, seqstart, false) from pg_sequence
        join pg_depend on objid = seqrelid and deptype in ('a', 'i') and refobjid = any (affected);
    end if;
  end`

/** Empties the audit log between two tests; the product never can. */
export const emptyAudit = (db: Db): Promise<void> =>
  emptyTables(db, ['audit_entries', 'audit_seals', 'audit_unsealed'])

async function createOwnServer(options: TestDatabaseOptions): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-test-'))
  const postgres = await openPostgres({ ...options.postgres, dataDir: folder })
  const client = await postgres.directConnection()
  await migrate(client, options.migrations === undefined ? {} : { folder: options.migrations })
  await client.end()
  return {
    databaseUrl: postgres.databaseUrl,
    postgres,
    dataDir: join(folder, 'postgres'),
    async [Symbol.asyncDispose]() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `admin` runs one task on the connection that registers this process as a user of the server. */
type TestServer = {
  admin<T>(work: (client: Client) => Promise<T>): Promise<T>
  urlOf(database: string): string
}

let used: Promise<TestServer> | undefined

/** The server, with one connection that registers this process as its user until the process ends. */
function useServer(): Promise<TestServer> {
  used ??= process.env.PHAROS_TEST_DATABASE_URL
    ? useUrl(process.env.PHAROS_TEST_DATABASE_URL)
    : useShared(START_TIMEOUT_MS)
  return used
}

async function useUrl(url: string): Promise<TestServer> {
  const admin = await connectAdmin(url)
  return { admin, urlOf: (database) => Object.assign(new URL(url), { pathname: `/${database}` }).href }
}

async function useShared(timeoutMs: number): Promise<TestServer> {
  const deadline = performance.now() + timeoutMs
  const folder = testFolder()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let asked = false; performance.now() < deadline; await sleep(25)) {
    const socketDir = findPostmaster(join(folder, 'postgres'))?.socketDir
    const server = socketDir && (await tryUse(socketDir))
    if (server) return server
    // One keeper wins, the others end immediately; but a keeper that is about to end needs a successor.
    if (!asked || hasNoKeeper(folder)) startKeeper(folder)
    asked = true
  }
  throw new Error(`The test server does not start: see ${folder}/postgres.log and ${folder}/keeper.log.`)
}

async function tryUse(socketDir: string): Promise<TestServer | undefined> {
  try {
    const admin = await connectAdmin(socketUrl(socketDir, 'postgres'))
    return { admin, urlOf: (database) => socketUrl(socketDir, database) }
  } catch {
    return undefined
  }
}

/** Keeps the process alive only while it works: a test process ends when its tests have. */
async function connectAdmin(url: string): Promise<TestServer['admin']> {
  const client = new Client({
    connectionString: url,
    application_name: 'pharos test',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  await client.connect()
  await client.query('select pg_advisory_lock_shared($1)', [USERS_LOCK])
  const { ref, unref } = client as unknown as Record<'ref' | 'unref', () => void>
  let last: Promise<unknown> = Promise.resolve()
  unref.call(client)
  return async (work) => {
    const result = last.then(async () => {
      ref.call(client)
      return await work(client).finally(() => unref.call(client))
    })
    last = result.catch(() => {})
    return await result
  }
}

function testFolder(): string {
  const checkout = createHash('sha256')
    .update(fileURLToPath(import.meta.url))
    .digest('hex')
    .slice(0, 8)
  return join(tmpdir(), `pharos-test-${process.getuid?.() ?? 0}-${checkout}`)
}

/** On a busy machine a keeper needs many seconds until it has the lock, and further keepers would slow it down. */
const KEEPER_START_MS = 60_000

function startKeeper(folder: string): void {
  const file = join(folder, 'keeper.starting')
  if (isStarting(file)) return
  const script = fileURLToPath(new URL('testing-keeper.ts', import.meta.url))
  const child = spawn(process.execPath, [script, folder], { detached: true, stdio: 'ignore' })
  child.unref()
  writeFileSync(file, String(child.pid))
}

function isStarting(file: string): boolean {
  try {
    const isRecent = Date.now() - statSync(file).mtimeMs < KEEPER_START_MS
    return isRecent && process.kill(Number(readFileSync(file, 'utf8')), 0)
  } catch {
    return false
  }
}

function hasNoKeeper(folder: string): boolean {
  const lock = tryProcessLock(join(folder, 'postgres.lock'))
  lock?.release()
  return lock !== undefined
}

/** Ends the shared server as soon as no test uses it, instead of some seconds later. For the test runner. */
export async function stopTestServer(): Promise<void> {
  const folder = testFolder()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (hasNoKeeper(folder)) return
  process.kill(Number(readFileSync(join(folder, 'keeper.pid'), 'utf8')), 'SIGTERM')
  for (let waited = 0; waited < 10_000 && !hasNoKeeper(folder); waited += 50) await sleep(50)
}

/** The process id of the shared server; undefined if it does not run. */
export const testServerPid = (): number | undefined => findPostmaster(join(testFolder(), 'postgres'))?.pid

/** Migrates once per set of migrations: cloning takes a tenth of the time. */
async function ensureTemplate({ admin, urlOf }: TestServer, folder: string): Promise<string> {
  return await admin(async (client) => {
    // A user may clone its own templates only.
    const hash = createHash('sha256').update(client.user ?? '')
    for (const { sha256 } of listMigrations(folder)) hash.update(sha256)
    const name = `pharos_template_${hash.digest('hex').slice(0, 12)}`
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
    try {
      const found = await client.query('select from pg_database where datname = $1', [name])
      if (found.rowCount === 0) await buildTemplate(client, name, urlOf(`${name}_new`), folder)
      return name
    } finally {
      await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
    }
  })
}

async function buildTemplate(admin: Client, name: string, url: string, folder: string): Promise<void> {
  await admin.query(`drop database if exists ${name}_new with (force)`)
  await admin.query(`create database ${name}_new`)
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await migrate(client, { folder })
  } finally {
    await client.end()
  }
  await admin.query(`alter database ${name}_new rename to ${name}`)
}
