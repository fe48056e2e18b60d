import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTestDatabase } from '../db/testing.ts'
import { migrateCommand } from './migrate.ts'
import { serve } from './serve.ts'
import { runCommand } from './testing.ts'

/** No older PostgreSQL can be installed beside the others: the database reports another version. */
const older = `
  create schema older;
  create function older.current_setting(name text) returns text language sql as $$
    select case name when 'server_version_num' then '140023' else pg_catalog.current_setting(name) end $$;
  do $$ begin
    execute format('alter database %I set search_path = older, pg_catalog, public', current_database());
  end $$`

it('a PostgreSQL below 15 is refused by the server and by `pharos migrate`, in one sentence', async () => {
  await using database = await createTestDatabase()
  const client = await database.postgres.directConnection()
  await client.query(older)
  await client.end()
  for (const command of [serve, migrateCommand])
    await assert.rejects(runCommand(database, command), {
      message: 'PostgreSQL 14 is too old: Pharos needs 15 or later.',
    })
})
