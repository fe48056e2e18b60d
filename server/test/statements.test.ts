// Every statement of the server is prepared by the embedded PostgreSQL and by the lowest version that Pharos supports:
// a function that the lowest version lacks fails here, not at a customer. Statements are not executed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { checkStatements, describeStatement, type Unchecked } from '../src/db/check-statements.ts'
import { migrate } from '../src/db/migrate.ts'
import { skipWithoutDebianPostgres, startDebianPostgres } from '../src/db/testing-debian.ts'
import { createTestDatabase } from '../src/db/testing.ts'
import { createDescribingDatabase, type Described } from './support/describing-database.ts'
import { statementCalls } from './support/statement-calls.ts'

/** Prepares the statements of the calls: without rows, and with a row of nulls. Returns all statements. */
async function describeCalls(client: Client): Promise<Described[]> {
  const described: Described[] = []
  for (const rowCount of [0, 1]) {
    const database = createDescribingDatabase(client, rowCount)
    for (const call of statementCalls) await call(database).catch(() => {})
    described.push(...database.described)
  }
  return described
}

/** Whether the text contains the parts in this order. */
function contains(text: string, parts: readonly string[]): boolean {
  let from = 0
  return parts.every((part) => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

const isDescribed = (described: readonly Described[], { parts }: Unchecked): boolean =>
  described.some(({ text }) => contains(text, parts))

async function assertPrepared(client: Client): Promise<void> {
  const { problems, unchecked } = await checkStatements(client)
  assert.deepEqual(problems, [])
  const described = await describeCalls(client)
  assert.deepEqual(
    described.flatMap(({ text, error }) => (error ? [`${error}: ${text}`] : [])),
    [],
  )
  const missing = unchecked.filter((one) => !isDescribed(described, one))
  assert.deepEqual(
    missing.map(({ place }) => place),
    [],
    'add calls of these statements to support/statement-calls.ts',
  )
  const golden = readFileSync(new URL('../src/events/list/list-events.golden.sql', import.meta.url), 'utf8')
  for (const statement of golden.split(';\n').slice(0, -1)) await describeStatement(client, statement)
}

describe('every statement', () => {
  it('can be prepared by the embedded PostgreSQL', async () => {
    await using database = await createTestDatabase()
    const client = await database.postgres.directConnection()
    await assertPrepared(client).finally(() => client.end())
  })

  it("can be prepared by Debian's PostgreSQL", { skip: skipWithoutDebianPostgres() }, async () => {
    await using server = await startDebianPostgres()
    const client = new Client(server.databaseUrl)
    await client.connect()
    try {
      await migrate(client)
      await assertPrepared(client)
    } finally {
      await client.end()
    }
  })
})
