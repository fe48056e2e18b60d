// `npm run generate`: writes schema.ts and schema.sql from a migrated database. With --check it writes nothing and
// fails when the files in the repository are not what would be written.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readCatalog, type Catalog } from './catalog.ts'
import { generateDump } from './generate-dump.ts'
import { generateTypes } from './generate-types.ts'
import { createTestDatabase } from './testing.ts'

const FILES: Record<string, (catalog: Catalog) => string> = {
  'schema.ts': generateTypes,
  'schema.sql': generateDump,
}

/** The files generated from the migrations, by name. */
export async function generateFiles(): Promise<Record<string, string>> {
  // The dump differs in details between versions of PostgreSQL: the golden one is that of the embedded version.
  delete process.env.PHAROS_TEST_DATABASE_URL
  await using database = await createTestDatabase()
  const client = await database.postgres.directConnection()
  try {
    const catalog = await readCatalog(client)
    return Object.fromEntries(Object.entries(FILES).map(([file, generate]) => [file, generate(catalog)]))
  } finally {
    await client.end()
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  for (const [file, text] of Object.entries(await generateFiles())) {
    const url = new URL(file, import.meta.url)
    if (!values.check) writeFileSync(url, text)
    else if (readFileSync(url, 'utf8') !== text)
      fail(`server/src/db/${file} is not what the migrations come to: run npm run generate`)
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

if (import.meta.main) await main()
