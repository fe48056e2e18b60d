import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from './testing.ts'
import { arrayText, unnestRows } from './unnest.ts'

test('every value arrives as it is, in the order of the rows', async () => {
  await using database = await createTestDatabase()
  const texts = ['', 'NULL', 'null', '{a,"b"}', `\\ ' "`, 'a\u001eb', 'é\n\t', 'x'.repeat(10_000)]
  const rows = texts.map((text, n) => ({
    text,
    n: n === 1 ? null : n,
    at: new Date(n * 1_000),
    json: n === 2 ? null : JSON.stringify({ text }),
    list: arrayText(n === 3 ? [] : ['A', 'B']),
  }))
  const types = { text: 'text', n: 'bigint', at: 'timestamptz', json: 'json', list: 'text' }
  const { rows: read } = await sql`
    select n.text, n.n, n.at, n.json, n.list, n.list::text[] as codes, n.place
    from ${unnestRows(rows, types)} order by place`.execute(database.postgres.owner)
  assert.deepEqual(
    read,
    rows.map((row, n) => ({ ...row, codes: n === 3 ? [] : ['A', 'B'], place: n + 1 })),
  )
})
