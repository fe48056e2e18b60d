import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Client } from 'pg'
import { listMigrations, migrate } from './migrate.ts'
import { createTestDatabase } from './testing.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const empty = folderOf({})
const first = { '001-cats.sql': 'create table cats (id integer);' }
const second = { ...first, '002-dogs.sql': 'create table dogs (id integer);' }

/** Two connections to an empty database: a lock must be visible from another session. */
async function withClients(work: (client: Client, other: Client) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase({ migrations: empty })
  const client = await database.postgres.directConnection()
  const other = await database.postgres.directConnection()
  try {
    await work(client, other)
  } finally {
    await client.end()
    await other.end()
  }
}

async function tables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
  return rows.map(({ name }) => name)
}

describe('migrate', () => {
  it('applies the missing migrations, in order, and none the second time', async () => {
    await withClients(async (client) => {
      assert.deepEqual(await migrate(client, folderOf(first)), { applied: ['001-cats.sql'], version: 1 })
      assert.deepEqual(await migrate(client, folderOf(second)), { applied: ['002-dogs.sql'], version: 2 })
      assert.deepEqual(await migrate(client, folderOf(second)), { applied: [], version: 2 })
      assert.deepEqual(await tables(client), ['cats', 'dogs', 'migrations'])
    })
  })

  it('runs once if two processes start at the same time', async () => {
    await withClients(async (client, other) => {
      const folder = folderOf(second)
      const results = await Promise.all([migrate(client, folder), migrate(other, folder)])
      assert.deepEqual(results.map(({ applied }) => applied.length).sort(), [0, 2])
    })
  })

  it('leaves no trace of a file that fails, keeps those before it, and names file and line', async () => {
    await withClients(async (client, other) => {
      const broken = {
        ...first,
        '002-dogs.sql': 'create table dogs (id integer);\n-- ü\ncreate tabel birds ();\n',
      }
      await assert.rejects(
        migrate(client, folderOf(broken)),
        /^Error: 002-dogs\.sql:3: syntax error .*SQLSTATE 42601/,
      )
      assert.deepEqual(await tables(client), ['cats', 'migrations'])
      assert.deepEqual((await migrate(other, folderOf(second))).applied, ['002-dogs.sql'])
    })
  })

  it('refuses an applied file that has changed, and changes nothing', async () => {
    await withClients(async (client) => {
      await migrate(client, folderOf(first))
      const changed = {
        '001-cats.sql': 'create table cats (id bigint);',
        '002-dogs.sql': 'create table dogs ();',
      }
      await assert.rejects(
        migrate(client, folderOf(changed)),
        /001-cats\.sql is not the file that was applied/,
      )
      assert.deepEqual(await tables(client), ['cats', 'migrations'])
    })
  })

  it('refuses a database that is newer than the code', async () => {
    await withClients(async (client) => {
      await migrate(client, folderOf(second))
      await assert.rejects(
        migrate(client, folderOf(first)),
        /newer than this Pharos: it contains 002-dogs\.sql/,
      )
    })
  })

  it('releases its lock after a failure', async () => {
    await withClients(async (client, other) => {
      await assert.rejects(migrate(client, folderOf({ '001-bad.sql': 'nonsense' })))
      const { rows } = await other.query('select pg_try_advisory_lock(1885892978) as free')
      assert.deepEqual(rows, [{ free: true }])
    })
  })
})

describe('a folder of migrations', () => {
  it('is numbered without gaps or duplicates', () => {
    assert.throws(() => listMigrations(folderOf({ '002-a.sql': '' })), /number 1 is expected/)
    assert.throws(
      () => listMigrations(folderOf({ '001-a.sql': '', '001-b.sql': '' })),
      /001-b\.sql.*number 2 is expected/,
    )
    assert.throws(() => listMigrations(folderOf({ '1-a.sql': '' })), /named NNN-title\.sql/)
    assert.throws(() => listMigrations(folderOf({ '001-A.sql': '' })), /named NNN-title\.sql/)
  })

  it('may contain other files', () => {
    assert.deepEqual(
      listMigrations(folderOf({ ...first, 'README.md': '' })).map(({ file }) => file),
      ['001-cats.sql'],
    )
  })
})
