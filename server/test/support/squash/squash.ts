// `node server/test/support/squash/squash.ts`: replaces all migrations by the files of files.ts, without any change of the schema. It writes a dump of a
// database with the former history, from which dumps.test.ts proves that nothing is lost, and the digest by which `migrate` knows that history.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCatalog } from '../../../src/db/catalog.ts'
import { digestOf } from '../../../src/db/former-history.ts'
import { generateDump } from '../../../src/db/generate-dump.ts'
import { listMigrations, migrationsFolder } from '../../../src/db/migrate.ts'
import { createTestDatabase } from '../../../src/db/testing.ts'
import { buildFiles, type BuiltFile } from './build.ts'
import { readObjects } from './read-objects.ts'
import { readSources } from './sources.ts'

// The golden schema is that of the embedded PostgreSQL.
delete process.env['PHAROS_TEST_DATABASE_URL']

const source = (path: string): string => fileURLToPath(new URL(`../../../src/db/${path}`, import.meta.url))

async function build(): Promise<BuiltFile[]> {
  await using database = await createTestDatabase()
  const client = await database.postgres.directConnection()
  try {
    return buildFiles(await readObjects(client), readSources(listMigrations(migrationsFolder)))
  } finally {
    await client.end()
  }
}

/** Throws if the files make another schema than the golden one. */
async function assertSameSchema(files: readonly BuiltFile[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-squashed-'))
  try {
    for (const { file, sql } of files) writeFileSync(join(folder, file), sql)
    await using database = await createTestDatabase({ migrations: folder })
    const client = await database.postgres.directConnection()
    const schema = generateDump(await readCatalog(client))
    await client.end()
    assert.equal(schema, readFileSync(source('schema.sql'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function replace(path: string, pattern: RegExp, text: string): void {
  const before = readFileSync(source(path), 'utf8')
  assert.match(before, pattern)
  writeFileSync(source(path), before.replace(pattern, text))
}

const files = await build()
await assertSameSchema(files)
const writeDump = fileURLToPath(new URL('../write-dump.ts', import.meta.url))
execFileSync(process.execPath, [writeDump, `${String(files.length).padStart(3, '0')}-former`], {
  stdio: 'inherit',
})
const former = listMigrations(migrationsFolder)
for (const { file } of former) rmSync(join(migrationsFolder, file))
for (const { file, sql } of files) writeFileSync(join(migrationsFolder, file), sql)
replace(
  'former-history.ts',
  /\{\n {2}steps: [^}]*\}/,
  `{\n  steps: ${former.length},\n  sha256: '${digestOf(former)}',\n  files: ${files.length},\n}`,
)
replace('migration-file.ts', /baseline = \d+/, `baseline = ${files.length}`)
