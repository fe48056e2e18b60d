// The end of rows that are kept for a time: deleted zones and versions.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { purge } from './purge.ts'
import { writeZoneVersion, insertTestZone } from './testing.ts'

const never = new AbortController().signal

describe('the purge', () => {
  let database: TestDatabase
  before(async () => void (database = await createTestDatabase()))
  after(() => database[Symbol.asyncDispose]())
  const db = () => database.postgres.owner

  it('deletes a zone with all its rows seven days after its deletion, once it is withdrawn', async () => {
    const zone = async (name: string, deleted: string, isWithdrawn: boolean): Promise<number> => {
      const id = await insertTestZone(db(), name, 'www 300 A 192.0.2.1')
      await writeZoneVersion(db(), id, { added: 'new 300 A 192.0.2.2' })
      await sql`
        update dns_zones set deleted = now() - ${deleted}::interval, withdrawn = case when ${isWithdrawn} then now() end
        where id = ${id}`.execute(db())
      return id
    }
    const due = await zone('due.example', '7 days 1 second', true)
    const kept = [
      await zone('young.example', '6 days 23 hours', true),
      // Name servers may still serve it: its row is the evidence for its removal.
      await zone('served.example', '30 days', false),
      await insertTestZone(db(), 'live.example'),
    ]
    assert.deepEqual(await purge(db(), never), { zones: 1, versions: 0 })
    const { rows } = await sql<{ id: number }>`select id from dns_zones order by id`.execute(db())
    assert.deepEqual(
      rows.map(({ id }) => id),
      kept,
    )
    for (const table of ['dns_recordsets', 'dns_versions', 'dns_served', 'dns_transfers', 'dns_keys']) {
      const left = await sql`select from ${sql.table(table)} where zone_id = ${due}`.execute(db())
      assert.equal(left.rows.length, 0, table)
    }
  })

  it('deletes versions after the days of the zone, and keeps the state at that time', async () => {
    const aged = async (name: string, days: readonly number[], settings = {}): Promise<number> => {
      const id = await insertTestZone(db(), name)
      for (const [at] of days.entries())
        await writeZoneVersion(db(), id, { added: `www 300 A 192.0.2.${at}` })
      await sql`update dns_zones set published_version = version, settings = ${JSON.stringify(settings)} where id = ${id}`.execute(
        db(),
      )
      for (const [at, age] of days.entries())
        await sql`
          update dns_versions set at = now() - make_interval(days => ${age})
          where zone_id = ${id} and version = (select version from dns_zones where id = ${id}) - ${days.length - 1 - at}`.execute(
          db(),
        )
      return id
    }
    const agesOf = async (id: number) => {
      const { rows } = await sql<{ age: number }>`
        select extract(day from now() - at)::integer as age from dns_versions where zone_id = ${id} order by version`.execute(
        db(),
      )
      return rows.map(({ age }) => age)
    }
    const byDefault = await aged('default.example', [200, 120, 95, 89, 1])
    const short = await aged('short.example', [9, 8, 6], { history_days: 7 })
    const idle = await aged('idle.example', [300])
    const waiting = await aged('waiting.example', [200, 120, 95])
    await sql`update dns_zones set published_version = 0 where id = ${waiting}`.execute(db())
    assert.deepEqual(await purge(db(), never), { zones: 0, versions: 3 })
    // A rollback to the oldest version restores the zone as it was when its history begins.
    assert.deepEqual(await agesOf(byDefault), [95, 89, 1])
    assert.deepEqual(await agesOf(short), [8, 6])
    assert.deepEqual(await agesOf(idle), [300])
    assert.deepEqual(await agesOf(waiting), [200, 120, 95])
    assert.deepEqual(await purge(db(), never), { zones: 0, versions: 0 })
  })
})
