import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { hasDeleted, purge } from './purge.ts'
import { changeZone, insertZone } from './testing.ts'

describe('the purge', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database[Symbol.asyncDispose]())

  const db = () => database.postgres.owner
  const run = () => purge(db(), new AbortController().signal)
  const names = async (): Promise<string[]> => {
    const { rows } = await sql<{ name: string }>`select name from dns_zones order by name`.execute(db())
    return rows.map(({ name }) => name)
  }

  it('deletes a zone seven days after its deletion, and only once it has left the catalog zone', async () => {
    const insert = async (name: string, deletedDays: number | null, isWithdrawn: boolean): Promise<void> => {
      const id = await insertZone(db(), name)
      await sql`
        update dns_zones set deleted = now() - make_interval(hours => ${deletedDays === null ? null : deletedDays * 24}::integer),
          withdrawn = case when ${isWithdrawn} then now() end where id = ${id}`.execute(db())
    }
    await insert('present.example', null, false)
    await insert('recent.example', 6, true)
    await insert('member.example', 30, false)
    await insert('old.example', 8, true)
    assert.equal(await hasDeleted(db()), true, 'one waits for the catalog')
    assert.deepEqual(await run(), { zones: 1, versions: 0 })
    assert.deepEqual(await names(), ['member.example.', 'present.example.', 'recent.example.'])
    assert.deepEqual(await run(), { zones: 0, versions: 0 })
  })

  it('deletes versions after the days of the zone, those that are not published never', async () => {
    const id = await insertZone(db(), 'versions.example')
    for (let i = 0; i < 6; i++) await changeZone(db(), id, { added: `www 300 A 192.0.2.${i}` })
    await sql`update dns_versions set at = now() - make_interval(days => (40 - 5 * version)::integer)`.execute(
      db(),
    )
    const versions = async (): Promise<number[]> => {
      const { rows } = await sql<{ version: number }>`
        select version::integer as version from dns_versions where zone_id = ${id} order by version`.execute(
        db(),
      )
      return rows.map(({ version }) => version)
    }
    assert.deepEqual(await versions(), [2, 3, 4, 5, 6, 7])
    await run()
    assert.equal((await versions()).length, 6, 'the default is 90 days')
    await sql`update dns_zones set settings = '{"history_days": 18}' where id = ${id}`.execute(db())
    await run()
    assert.equal((await versions()).length, 6, 'nothing is published yet')
    await sql`update dns_zones set published_version = 3 where id = ${id}`.execute(db())
    assert.deepEqual(await run(), { zones: 0, versions: 2 })
    await sql`update dns_zones set published_version = 7 where id = ${id}`.execute(db())
    assert.deepEqual(await run(), { zones: 0, versions: 1 })
    assert.deepEqual(await versions(), [5, 6, 7])
  })
})
