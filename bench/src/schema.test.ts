// The statements of the benchmarks fit the schema: a benchmark whose table was renamed would fail only when somebody measures.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { Client } from 'pg'
import { describeStatement } from '../../server/src/db/check-statements.ts'
import { createTestDatabase, type TestDatabase } from '../../server/src/db/testing.ts'

let database: TestDatabase
let client: Client

before(async () => {
  database = await createTestDatabase()
  client = await database.postgres.directConnection()
})
after(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
})

/** Tables of a peer, and those of ClickHouse. */
const others = /\b(?:peer_rows|bench_flows|flows_by_\w+|system\.parts)\b/

/** Texts of `query` without interpolated parts. */
const textsIn = (source: string): string[] =>
  [...source.matchAll(/\bquery(?:<[^()]*?>)?\(\s*(?:'([^'\n]*)'|`([^`]*)`)/g)]
    .map(([, quoted, template]) => (quoted ?? template)!.trim())
    .filter((text) => !text.includes('${') && !others.test(text))

/** PostgreSQL prepares neither `truncate` nor `vacuum`. */
function preparable(text: string): string {
  const [, tables] = /^(?:truncate|vacuum(?: analyze)?)(?: table)? ([\w, ]+?)(?: cascade)?$/.exec(text) ?? []
  return tables === undefined ? text : `select from ${tables}`
}

it('every statement of a benchmark can be prepared', async () => {
  const folder = import.meta.dirname
  const wrong: string[] = []
  let checked = 0
  for (const file of globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] }).sort()) {
    for (const text of textsIn(readFileSync(join(folder, file), 'utf8'))) {
      checked += 1
      await describeStatement(client, preparable(text)).catch((error: Error) =>
        wrong.push(`${file}: ${error.message}: ${text}`),
      )
    }
  }
  assert.ok(checked > 50, `${checked} statements`)
  assert.deepEqual(wrong, [])
})
