import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from 'pg'
import { checkStatements } from './check-statements.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase
let client: Client
const folder = mkdtempSync(join(tmpdir(), 'pharos-statements-'))

before(async () => {
  database = await createTestDatabase()
  client = await database.postgres.directConnection()
})
after(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function problemsOf(source: string): Promise<string[]> {
  writeFileSync(join(folder, 'one.store.ts'), source.replaceAll(/^ +/gm, ''))
  const { problems } = await checkStatements(client, folder, '*.ts')
  return problems
}

describe('the statement check', () => {
  it('accepts fragments, select lists, conditions and parameters', async () => {
    const source = `
      const shown = columns('teams', 't', ['id', 'name'], { members: sql<number>\`(select count(*) from memberships)\` })
      const ofTeam = (id: number) => sql\`t.id = \${id}\`
      const one = (id, name) => sql<{ id: number; name: string; members: number }>\`
        select \${shown} from teams t where \${ofTeam(id)} \${andAll(name && sql\`t.name = \${name}\`)} limit \${1}\``
    assert.deepEqual(await problemsOf(source), [])
  })

  it('finds names that do not exist, in the statement and in its fragments', async () => {
    const source = `
      const bad = sql\`t.nam = 'a'\`
      await sql\`update teams set nam = 'a'\`.execute(db)
      await sql\`select t.id from teams t where \${bad}\`.execute(db)
      await sql\`select id from team\`.execute(db)`
    assert.deepEqual(await problemsOf(source), [
      'one.store.ts:3 column "nam" of relation "teams" does not exist',
      'one.store.ts:4 column t.nam does not exist',
      'one.store.ts:5 relation "team" does not exist',
    ])
  })

  it('finds rows that are not as they are declared', async () => {
    const source = `
      await sql<{ id: number; slug: string }>\`select id, name from teams\`.execute(db)
      await sql<{ id: string; created: Date | null }>\`select id, created from teams\`.execute(db)`
    assert.deepEqual(await problemsOf(source), [
      'one.store.ts:2 returns no slug',
      'one.store.ts:3 returns another type as id',
    ])
  })
})
