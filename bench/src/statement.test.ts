import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scriptOf } from './statement.ts'

describe('a script of pgbench', () => {
  it('uses variables for their parameters and inlines the rest', () => {
    const statement = {
      sql: 'select  $1, $2,\n $3, $4::timestamptz, $1, $5::text[]',
      parameters: ['team', 10, "it's", new Date('2026-01-01T00:00:00Z'), ['team', 'blue']],
    }
    assert.equal(
      scriptOf(statement, new Map([['team', ':team']])),
      "select :team, 10, 'it''s', '2026-01-01T00:00:00.000Z'::timestamptz, :team, array[:team, 'blue']::text[];\n",
    )
  })
})
