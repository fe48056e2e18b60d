import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CompiledQuery } from 'kysely'
import { Client } from 'pg'
import { findPostmaster } from './embedded-orphan.ts'
import { createTestDatabase } from './testing.ts'

const migrations = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
writeFileSync(join(migrations, '001-cats.sql'), 'create table cats (name text);')
after(() => rmSync(migrations, { recursive: true }))

const insert = CompiledQuery.raw(`insert into cats values ('tom')`)
const count = CompiledQuery.raw('select count(*) as n from cats')

describe('a test database', () => {
  it('is migrated, empty and separate from every other', async () => {
    await using one = await createTestDatabase({ migrations })
    await using other = await createTestDatabase({ migrations })
    await one.postgres.owner.executeQuery(insert)
    assert.deepEqual((await one.postgres.owner.executeQuery(count)).rows, [{ n: 1 }])
    assert.deepEqual((await other.postgres.owner.executeQuery(count)).rows, [{ n: 0 }])
  })

  it('is dropped after its scope, even if a client is connected to it', async () => {
    let client: Client
    {
      await using database = await createTestDatabase({ migrations })
      client = new Client({ connectionString: database.databaseUrl })
      client.on('error', () => {})
      await client.connect()
    }
    await assert.rejects(client.query('select'))
  })

  it('can have a server of its own, with the settings of the product', async () => {
    await using database = await createTestDatabase({ migrations, durable: true })
    const { rows } = await database.postgres.owner.executeQuery(CompiledQuery.raw('show fsync'))
    assert.deepEqual(rows, [{ fsync: 'on' }])
    assert.ok(findPostmaster(database.dataDir!))
  })
})

describe('the server of all tests', () => {
  it('is shared: a test that ends sessions, or waits for locks, names its database', () => {
    const root = join(import.meta.dirname, '../../')
    const found = globSync('{src,test}/**/*.ts', { cwd: root }).flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      // A statement with its condition; one session is ended by its pid.
      const places = [...text.matchAll(/(?:pg_terminate_backend\(pid\)|from pg_locks)[^]{0,400}/g)]
      return places.filter(([statement]) => !/datname|current_database/.test(statement)).map(() => file)
    })
    assert.deepEqual(found, [])
  })
})
