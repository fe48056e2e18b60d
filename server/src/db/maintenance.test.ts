import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { maintain } from './maintenance.ts'
import { createTestDatabase } from './testing.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner

const partitionsOf = async (parent: string): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${parent}::regclass order by 1`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

test('what was written before the month had its partition moves there, and later rows go there', async () => {
  await sql`insert into sources (key, kind, name, secret_mac) values ('s', 'generic', 'S', '')`.execute(db)
  await sql`insert into audit_entries (actor, action, target) values ('operator', 'early', '')`.execute(db)
  await sql`insert into deliveries (source_key, delivery_id, body) values ('s', 'early', '')`.execute(db)
  await maintain(db)
  await maintain(db)
  await sql`insert into audit_entries (actor, action, target) values ('operator', 'late', '')`.execute(db)
  await sql`insert into deliveries (source_key, delivery_id, body) values ('s', 'late', '')`.execute(db)
  for (const [parent, name] of [
    ['audit_entries', 'action'],
    ['deliveries', 'delivery_id'],
  ] as const) {
    assert.equal((await partitionsOf(parent)).length, 4, 'this month, the next two and the default one')
    const { rows } = await sql`
      select ${sql.ref(name)} as name, tableoid = ${`${parent}_default`}::regclass as stray
      from ${sql.table(parent)} order by id`.execute(db)
    assert.deepEqual(rows, [
      { name: 'early', stray: false },
      { name: 'late', stray: false },
    ])
  }
})
