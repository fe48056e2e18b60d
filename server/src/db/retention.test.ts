import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { listMigrations, migrationsFolder } from './migrate.ts'
import { deleteInBatches, readRetentions, type RetentionConfig } from './retention.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())

const none: RetentionConfig = {
  deliveryRetentionDays: null,
  eventRetentionMonths: null,
  auditRetentionMonths: null,
  accountRetentionMonths: null,
}
const limitsOf = async (config: RetentionConfig) =>
  (await readRetentions(database.postgres.owner, config)).map(
    ({ kind, limit, is_set: isSet }) => `${kind} ${limit} ${isSet ? 'set' : 'default'}`,
  )

describe('how long rows are kept', () => {
  it('is limited by default in a new installation, and by a setting, which 0 lifts', async () => {
    assert.deepEqual(await limitsOf(none), [
      'deliveries 90 default',
      'events 25 default',
      'audit 36 default',
      'accounts 12 default',
    ])
    assert.deepEqual(await limitsOf({ ...none, auditRetentionMonths: 0, eventRetentionMonths: 6 }), [
      'deliveries 90 default',
      'events 6 set',
      'audit null set',
      'accounts 12 default',
    ])
  })

  it('is without a limit in an installation of the release before, until one is set', async () => {
    const file = (await listMigrations(migrationsFolder)).find(({ sql: text }) =>
      text.includes('create table default_limits'),
    )!
    const [statement] = /^insert into default_limits .*;$/m.exec(file.sql)!
    const { owner } = database.postgres
    await sql`delete from default_limits`.execute(owner)
    await sql`insert into teams (slug, name) values ('a', 'A')`.execute(owner)
    await sql.raw(statement!).execute(owner)
    assert.deepEqual(await limitsOf({ ...none, deliveryRetentionDays: 30 }), [
      'deliveries 30 set',
      'events null default',
      'audit null default',
      'accounts null default',
    ])
  })

  it('is kept in batches until one is not full, and ends with the signal', async () => {
    const left = [7, 7, 3]
    assert.equal(await deleteInBatches(new AbortController().signal, async () => left.shift()!, 7), 17)
    const stopped = new AbortController()
    const run = deleteInBatches(
      stopped.signal,
      async () => {
        stopped.abort(new Error('stopped'))
        return 7
      },
      7,
    )
    await assert.rejects(run, /stopped/)
  })
})
