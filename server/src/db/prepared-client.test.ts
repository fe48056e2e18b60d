import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { Failure } from '../runtime/error.ts'
import type { Postgres } from './postgres.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase
let postgres: Postgres

before(async () => {
  // One connection, so that its prepared statements can be queried on it.
  database = await createTestDatabase({ postgres: { frontConnections: 1, ownerConnections: 1 } })
  postgres = database.postgres
})
after(() => database[Symbol.asyncDispose]())

async function prepared(db = postgres.front): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`
    select statement from pg_prepared_statements where name like 'pharos_kept%'`.execute(db)
  return rows.map(({ statement }) => statement)
}

describe('a connection of the API', () => {
  it('keeps a statement with parameters prepared from the second time on', async () => {
    const add = (n: number) => sql<{ sum: number }>`select 1 + ${n}::integer as sum`.execute(postgres.front)
    assert.equal((await add(1)).rows[0]?.sum, 2)
    assert.deepEqual(await prepared(), [])
    assert.equal((await add(2)).rows[0]?.sum, 3)
    assert.equal((await add(3)).rows[0]?.sum, 4)
    assert.deepEqual(await prepared(), ['select 1 + $1::integer as sum'])
  })

  it('does not prepare a statement without parameters', async () => {
    for (let n = 0; n < 3; n++) await sql`select 5 as five`.execute(postgres.front)
    assert.equal((await prepared()).includes('select 5 as five'), false)
  })

  it('returns unavailable once if a table changed under a statement, and prepares it again', async () => {
    const read = () => sql`select * from shifting where a > ${0}`.execute(postgres.front)
    await sql`create table shifting as select 1 as a`.execute(postgres.owner)
    for (let n = 0; n < 2; n++) assert.deepEqual((await read()).rows, [{ a: 1 }])
    await sql`alter table shifting add column b integer default 2`.execute(postgres.owner)
    await assert.rejects(read(), (error) => error instanceof Failure && error.code === 'unavailable')
    for (let n = 0; n < 2; n++) assert.deepEqual((await read()).rows, [{ a: 1, b: 2 }])
  })
})

describe('a connection of the owner', () => {
  it('keeps only statements with the mark, also without parameters', async () => {
    for (let n = 0; n < 3; n++) {
      await sql`select 1 + ${n}::integer as sum`.execute(postgres.owner)
      await sql`/* kept */ select 2 + ${n}::integer as sum`.execute(postgres.owner)
      await sql`/* kept */ select 5 as five`.execute(postgres.owner)
    }
    assert.deepEqual((await prepared(postgres.owner)).toSorted(), [
      '/* kept */ select 2 + $1::integer as sum',
      '/* kept */ select 5 as five',
    ])
  })
})
