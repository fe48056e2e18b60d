// Rows have the names of the database and of the API, such as `team_id`: a select list is `columns`, and a named function makes a domain value
// of a row. Aliases in camel case are older, and their number only falls.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { it } from 'node:test'

const root = resolve(import.meta.dirname, '../src')

/** Lower it with every alias that is removed. */
const limit = 269

it(`at most ${limit} columns of statements have an alias in camel case`, () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  const found = files.flatMap((path) =>
    Array.from(
      readFileSync(join(root, path), 'utf8').matchAll(/\bas "[a-z]+[A-Z]\w*"/g),
      ([alias]) => `${path}: ${alias}`,
    ),
  )
  assert.equal(found.length, limit, found.join('\n'))
})
