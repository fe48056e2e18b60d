// Databases of past releases, migrated to the newest schema: the result has the schema of a new database and keeps all rows.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { readCatalog } from '../src/db/catalog.ts'
import { generateDump } from '../src/db/generate-dump.ts'
import { listMigrations, migrate, migrationsFolder } from '../src/db/migrate.ts'
import { dumpsFolder, readDump, readRows, restoreDump, type DumpedRow } from './support/dump.ts'
import { listTables } from './support/generated-rows.ts'

/**
 * Tables such as `sessions` and columns such as `sessions.address` that migrations remove or change on purpose. Such a migration
 * adds an entry with its number as the value.
 */
const changed: Readonly<Record<string, number>> = {
  // `migrate` writes the running version.
  'installation.schema_floor': Infinity,
}

// The golden schema is a text of the embedded PostgreSQL.
before(() => void delete process.env['PHAROS_TEST_DATABASE_URL'])

const migrations = listMigrations(migrationsFolder)
const newest = migrations.length
const historyColumns = ['number', 'file', 'sha256'] as const
const newestHistory = migrations
  .map((migration) => JSON.stringify(historyColumns.map((column) => [column, migration[column]])))
  .sort()
const dumps = readdirSync(dumpsFolder).filter((file) => /^\d{3}(-former)?\.tsv$/.test(file))

/** Returns the rows of a table, as sorted texts of the compared columns. */
function comparable(rows: readonly DumpedRow[], table: string, columns: readonly string[]): string[] {
  const ofTable = rows.filter((one) => one.table === table)
  return ofTable.map(({ row }) => textOf(row, columns)).sort()
}

const textOf = (row: string, columns: readonly string[]): string => {
  const value = JSON.parse(row) as Record<string, unknown>
  return JSON.stringify(columns.map((column) => [column, value[column]]))
}

const isKept = (version: number, name: string): boolean => !((changed[name] ?? 0) > version)

for (const file of dumps) {
  const version = Number(file.slice(0, 3))
  const isFormer = file.includes('former')
  describe(`a database after ${isFormer ? 'all former migrations' : `migration ${version}`}`, () => {
    it('has the schema of a new database and keeps its rows once it is migrated', async () => {
      const dumped = readDump(file)
      await using database = await restoreDump(version, dumped)
      const { owner } = database.postgres
      const tables = [...new Set(dumped.map(({ table }) => table))]
      assert.deepEqual(tables.toSorted(), (await listTables(owner)).map(({ name }) => name).toSorted())
      assert.deepEqual(await readRows(owner), dumped, 'the dump is restored unchanged')

      const client = await database.postgres.directConnection()
      const { applied } = await migrate(client, { steps: 'all' })
      assert.equal(applied.length, newest - version)
      const schema = generateDump(await readCatalog(client))
      await client.end()
      assert.equal(schema, readFileSync(new URL('../src/db/schema.sql', import.meta.url), 'utf8'))

      const rows = await readRows(owner)
      assert.deepEqual(comparable(rows, 'migrations', historyColumns), newestHistory)
      const keeping = tables.filter((name) => isKept(version, name) && !(isFormer && name === 'migrations'))
      for (const table of keeping) {
        const columns = Object.keys(JSON.parse(dumped.find((one) => one.table === table)!.row) as object)
        const kept = columns.filter((column) => isKept(version, `${table}.${column}`))
        const found = new Set(comparable(rows, table, kept))
        const lost = comparable(dumped, table, kept).filter((text) => !found.has(text))
        assert.deepEqual(lost, [], `rows of ${table} were lost or changed`)
      }
    })
  })
}

it('at least one dump exists', () => {
  assert.notEqual(dumps.length, 0)
})
