// `npm run generate`: writes schema.ts and schema.sql from a migrated database. With --check it only compares, and
// fails if the files in the repository differ, or if a statement does not fit the schema.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Client } from 'pg'
import { readCatalog, type Catalog } from './catalog.ts'
import { checkStatements } from './check-statements.ts'
import { generateDump } from './generate-dump.ts'
import { generateTypes } from './generate-types.ts'
import { createTestDatabase } from './testing.ts'

const FILES: Record<string, (catalog: Catalog) => string> = {
  'schema.ts': generateTypes,
  'schema.sql': generateDump,
}

/** Runs `work` on a migrated database. */
async function withSchema<T>(work: (client: Client) => Promise<T>): Promise<T> {
  // The dump differs in details between versions of PostgreSQL: the golden file is from the embedded version.
  delete process.env.PHAROS_TEST_DATABASE_URL
  await using database = await createTestDatabase()
  const client = await database.postgres.directConnection()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  await withSchema(async (client) => {
    const catalog = await readCatalog(client)
    for (const [file, generate] of Object.entries(FILES)) {
      const [url, text] = [new URL(file, import.meta.url), generate(catalog)]
      if (!values.check) writeFileSync(url, text)
      else if (readFileSync(url, 'utf8') !== text)
        fail(`server/src/db/${file} does not match the migrations: run npm run generate`)
    }
    if (values.check) for (const problem of (await checkStatements(client)).problems) fail(problem)
  })
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

if (import.meta.main) await main()
