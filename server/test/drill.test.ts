// `pharos drill restore` on copies of a database: each kind of damage is found, and neither database is changed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import { Client } from 'pg'
import { sealAll } from '../src/audit/seal.ts'
import { anEntry, tamper } from '../src/audit/testing.ts'
import { CommandFailure, UsageError } from '../src/commands/command.ts'
import { readConfiguration } from '../src/commands/configuration.ts'
import { drill } from '../src/commands/drill.ts'
import { writeAudit } from '../src/db/audit.ts'
import { migrate } from '../src/db/migrate.ts'
import { openPostgres, type Db } from '../src/db/postgres.ts'
import { sealedPlaces } from '../src/db/reseal.ts'
import { skipWithoutDebianPostgres, startDebianPostgres } from '../src/db/testing-debian.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { listObjects } from '../src/restore/drill.store.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { dropRules, listTables } from './support/generated-rows.ts'
import { addSealedRow, allowNoSealedValue } from './support/sealed-rows.ts'

const [key, otherKey] = ['o'.repeat(40), 'n'.repeat(40)]
const ring = createKeyRing([key])
const folder = mkdtempSync(join(tmpdir(), 'pharos-drill-'))

let database: TestDatabase
let name: string
before(async () => {
  database = await createTestDatabase()
  name = /pharos_test_\w+/.exec(database.databaseUrl)![0]
  await fill(database.postgres.owner)
  // A database in use cannot be copied.
  await database.postgres.stop()
})
after(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** A value of every encrypted kind, sealed audit entries, a process that runs, and some rows. */
async function fill(db: Db): Promise<void> {
  const tables = await listTables(db)
  await dropRules(
    db,
    tables.filter(({ name }) => !name.startsWith('audit_')),
  )
  await allowNoSealedValue(db)
  for (const [n, place] of sealedPlaces.entries()) await addSealedRow(db, tables, place, { ring, n: n + 1 })
  await sql`
    insert into users (email, username, password_hash) select n || '@example.net', 'u' || n, '' from generate_series(1, 100) n`.execute(
    db,
  )
  await sql`
    insert into processes (id, host, pid, version, roles, started, seen, loops, registries)
    values (gen_random_uuid(), 'a', 1, '0.2.0', '{api}', now(), now() - interval '3 days', '[]', '[]')`.execute(
    db,
  )
  await sql`update installation set uuid = gen_random_uuid()`.execute(db)
  await writeAudit(db, anEntry, anEntry, anEntry)
  await sealAll(db, ring, new AbortController().signal)
  await sql`analyze`.execute(db)
}

async function admin(statement: string): Promise<void> {
  const client = new Client(database.databaseUrl.replaceAll(name, 'postgres'))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** A copy of the live database, which is damaged by `damage` and then refuses every change. */
async function createCopy(damage: (db: Db) => Promise<unknown> = async () => {}) {
  const copy = `${name}_copy`
  await admin(`create database ${copy} template ${name} strategy file_copy`)
  const url = database.databaseUrl.replaceAll(name, copy)
  await using created = new AsyncDisposableStack()
  created.defer(() => admin(`drop database ${copy} with (force)`))
  await using postgres = await openPostgres({ databaseUrl: url, dataDir: '' })
  await damage(postgres.owner)
  await admin(`alter database ${copy} set default_transaction_read_only = on`)
  return Object.assign(created.move(), { url })
}

const env = (changed: Record<string, string> = {}) => ({
  DATABASE_URL: database.databaseUrl,
  PHAROS_SECRET: key,
  PHAROS_DATA_DIR: folder,
  PHAROS_LOG_LEVEL: 'silent',
  ...changed,
})

async function run(args: readonly string[], given: Record<string, string | undefined> = env()) {
  let printed = ''
  const code = await drill.run({
    args: ['restore', ...args],
    env: given,
    config: (from = given) => readConfiguration(from),
    out: (text) => void (printed += text),
  })
  return { code, printed, failures: [...printed.matchAll(/^ {2}FAILED (.*)/gm)].map(([, text]) => text!) }
}

/** Drills a damaged copy; it must fail by these checks only. */
async function failing(
  damage: (db: Db) => Promise<unknown>,
  checks: string,
  args: readonly string[] = [],
  given = env(),
): Promise<readonly string[]> {
  await using copy = await createCopy(damage)
  const { code, printed, failures } = await run(['--database-url', copy.url, ...args], given)
  assert.equal(code, 1, printed)
  assert.ok(printed.endsWith(`\nFailed: ${checks}\n`), printed)
  return failures
}

const execute = (statement: RawBuilder<unknown>) => (db: Db) => statement.execute(db)

describe('a copy of the live database', () => {
  it('passes, though it refuses every change, and every kind of encrypted value is decrypted', async () => {
    await using copy = await createCopy()
    const { code, printed } = await run(['--database-url', copy.url, '--max-age', '1h'])
    assert.equal(code, 0, printed)
    for (const { noun } of sealedPlaces) assert.ok(printed.includes(`\n  ${noun}: 1 opened\n`), printed)
    assert.match(printed, /\n {2}\d+ min: written until \S+Z; the live audit log is 0 entries ahead\n/)
    assert.match(printed, /\n {2}3 entries are unchanged, 0 are not checkable\n/)
    assert.match(printed, /\n {2}users: 1\d\d, live about 1\d\d\n/)
    assert.match(printed, /\nThe copy can be restored\.\n$/)
  })

  it('fails with another key, by every kind of value and by the audit log', async () => {
    const given = env({ PHAROS_SECRET: otherKey })
    const failures = await failing(async () => {}, 'keys, audit', [], given)
    for (const { noun } of sealedPlaces)
      assert.ok(
        failures.some((text) => text.startsWith(`1 ${noun}: the value was sealed under key `)),
        noun,
      )
  })

  it('fails for each kind with a value that was changed', async () => {
    const places = sealedPlaces.filter(({ inJson }) => !inJson)
    const failures = await failing(async (db) => {
      for (const { table, column } of places)
        await sql`
          update ${sql.table(table)} set ${sql.ref(column)} = set_byte(${sql.ref(column)}, 33, 255 - get_byte(${sql.ref(column)}, 33))
          where ${sql.ref(column)} is not null`.execute(db)
    }, 'keys')
    assert.deepEqual(
      failures.map((text) => text.split(':')[0]),
      places.map(({ noun }) => `1 ${noun}`),
    )
  })

  it('fails if the audit log was changed or truncated', async () => {
    const changed = await failing(
      (db) =>
        tamper(
          db,
          sql`update audit_entries set target = 'test:2' where id = (select min(id) from audit_entries)`,
        ),
      'audit',
    )
    assert.match(changed[0]!, /^1 errors in the chain, the first: changed at seal 1, entry \d+$/)
    await failing(
      (db) =>
        tamper(
          db,
          sql`delete from audit_seals where sequence = 2`,
          sql`delete from audit_entries where id = 2`,
        ),
      'audit',
    )
  })

  it('fails if it contains entries that the live database does not have', async () => {
    const [failure] = await failing(async (db) => {
      await writeAudit(db, anEntry)
      await sealAll(db, ring, new AbortController().signal)
    }, 'age')
    assert.equal(failure, 'the live audit log does not contain the newest entry of the copy')
  })

  it('fails if it is of another installation, or was never used', async () => {
    assert.deepEqual(await failing(execute(sql`update installation set uuid = gen_random_uuid()`), 'age'), [
      'it is the copy of another installation',
    ])
    const unused = (db: Db) =>
      tamper(db, sql`delete from audit_seals`, sql`delete from audit_entries`, sql`delete from processes`)
    assert.deepEqual(await failing(unused, 'age'), ['the copy was never used by Pharos'])
  })

  it('fails if it is older than --max-age', async () => {
    const old = (db: Db) => tamper(db, sql`delete from audit_seals`, sql`delete from audit_entries`)
    assert.deepEqual(await failing(old, 'age', ['--max-age', '26h']), ['the copy is older than 26 h'])
    await using copy = await createCopy(old)
    const { code, printed } = await run(['--database-url', copy.url, '--max-age', '7d'])
    assert.equal(code, 0, printed)
    assert.match(printed, /\n {2}3 d: written until \S+Z; the live audit log is 3 entries ahead\n/)
  })

  it('fails if its schema is older, or was changed', async () => {
    const folder = new URL('../src/db/migrations/', import.meta.url)
    const files = readdirSync(folder).toSorted()
    // Migrations that end an upgrade may follow later.
    const at = files.findLastIndex(
      (file) => !readFileSync(new URL(file, folder), 'utf8').startsWith('-- phase: contract'),
    )
    const newest = files[at]!
    const number = Number.parseInt(newest)
    const pending = execute(sql`delete from migrations where number >= ${number}`)
    assert.deepEqual(await failing(pending, 'migrations'), [
      `run pharos migrate after this restore: it lacks ${newest}`,
    ])
    const [other] = await failing(
      execute(sql`update migrations set sha256 = '' where number = ${number}`),
      'migrations',
    )
    assert.ok(other!.startsWith(`not checked: ${newest} is not the file that was applied`))
    const newer = sql`insert into migrations (number, file, sha256, phase, runs_with) values (9999, '999-x.sql', '', 'expand', '99.0.0')`
    const [tooNew] = await failing(execute(newer), 'migrations')
    assert.match(tooNew!, /^not checked: The database is newer than this Pharos/)
  })

  it('fails without a table, a column, an index, a rule or a right', async () => {
    const failures = await failing(async (db) => {
      for (const statement of [
        sql`drop policy tenant on announcement_regions`,
        sql`revoke select on announcement_regions from pharos_tenant`,
        sql`alter table users drop constraint users_pkey`,
        sql`alter table users drop column country`,
        sql`drop table restore_sources`,
        sql`alter table mails alter recipient drop not null`,
        sql`alter table audit_seals disable trigger audit_seals_kept`,
      ])
        await statement.execute(db)
    }, 'schema')
    assert.deepEqual(failures, [
      'missing: ' +
        [
          'column mails.recipient text not null',
          'column users.country text not null',
          'constraint users.users_pkey',
          'index users_pkey',
          'policy announcement_regions.tenant',
          'right announcement_regions select',
          'table restore_sources',
          'trigger audit_seals.audit_seals_kept',
        ].join(', '),
    ])
  })

  it('fails if a table with many rows is empty', async () => {
    const failures = await failing(execute(sql`delete from users`), 'rows')
    assert.deepEqual(failures, ['users is empty'])
  })

  it('is still checked by itself while the live database does not answer', async () => {
    const given = env({ DATABASE_URL: 'postgres://x@127.0.0.1:1/x' })
    const failures = await failing(async () => {}, 'age, schema, rows', [], given)
    for (const failure of failures) assert.match(failure, /^not checked: /)
  })
})

describe('nothing is checked', () => {
  const code = (expected: number) => (error: unknown) =>
    error instanceof CommandFailure && error.exitCode === expected

  it('if the address is that of the live database, or does not answer', async () => {
    await assert.rejects(run(['--database-url', database.databaseUrl]), code(2))
    await assert.rejects(run(['--database-url', 'postgres://x@127.0.0.1:1/x']), code(2))
  })

  it('without a key, and none is created', async () => {
    const { PHAROS_SECRET: _, ...given } = env()
    await assert.rejects(run(['--database-url', 'postgres://x@127.0.0.1:1/x'], given), code(2))
    assert.ok(!existsSync(join(folder, 'secret')))
  })

  it('with wrong arguments', async () => {
    for (const args of [
      [],
      ['--database-url', 'x'],
      ['--database-url', 'postgres://x', '--max-age', '3 days'],
    ])
      await assert.rejects(run(args), UsageError)
    await assert.rejects(
      drill.run({ args: [], env: env(), config: () => readConfiguration(env()), out: () => {} }),
      UsageError,
    )
  })
})

describe('a copy that pg_dump made', { skip: skipWithoutDebianPostgres() }, () => {
  it('passes', async () => {
    await using server = await startDebianPostgres()
    const client = new Client(server.databaseUrl)
    await client.connect()
    await migrate(client)
    await client.query('create database copied')
    await client.end()
    await using newest = await createTestDatabase()
    await using live = await openPostgres({ databaseUrl: server.databaseUrl, dataDir: '' })
    // A copy may be on another version of PostgreSQL than the live database.
    assert.deepEqual(await listObjects(live.owner), await listObjects(newest.postgres.owner))
    await writeAudit(live.owner, anEntry)
    await sealAll(live.owner, ring, new AbortController().signal)
    const url = server.databaseUrl.replace(/localhost\/[^?]+/, 'localhost/copied')
    const dumped = spawnSync('pg_dump', [server.databaseUrl], { maxBuffer: 1e9 })
    assert.equal(dumped.status, 0, String(dumped.stderr))
    const restored = spawnSync('psql', ['-v', 'ON_ERROR_STOP=1', '-q', url], { input: dumped.stdout })
    assert.equal(restored.status, 0, String(restored.stderr))
    const { code, printed } = await run(['--database-url', url], env({ DATABASE_URL: server.databaseUrl }))
    assert.equal(code, 0, printed)
  })
})
