// Partitions are created while entries wait for their seal and while the chain is verified. A concurrent reader of the
// audit log must see every entry, in the default partition or in the new one.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { createTestDatabase } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { sealAll } from './seal.ts'
import { isEntry, listSeals } from './seal.store.ts'
import { anEntry } from './testing.ts'
import { verifyAudit } from './verify.ts'

const ring = createKeyRing(['a secret of thirty-two bytes or more'])
const seal = (db: Db) => sealAll(db, ring, new AbortController().signal)

/** Runs `reading` while the month's partition exists but is not committed; commits once `reading` waits for a lock. */
async function whilePartitionIsCreated<T>(db: Db, reading: () => Promise<T>): Promise<T> {
  const created = Promise.withResolvers<void>()
  const commit = Promise.withResolvers<void>()
  const creating = db.transaction().execute(async (trx) => {
    await sql`select create_month_partitions(now()::date)`.execute(trx)
    created.resolve()
    await commit.promise
  })
  await Promise.race([created.promise, creating])
  const result = reading()
  try {
    await Promise.race([untilWaiting(db), result])
  } finally {
    commit.resolve()
  }
  await creating
  return await result
}

/** Resolves once a connection to this database waits for a lock of another one. */
async function untilWaiting(db: Db): Promise<void> {
  const waiting = sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting.execute(db)).rows.length === 0) await sleep(10)
}

describe('the audit log while a partition is created', () => {
  it('is sealed completely, and no entry is reported missing', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    await writeAudit(db, anEntry, anEntry, anEntry)
    assert.deepEqual(await whilePartitionIsCreated(db, () => seal(db)), { sealed: 3, missing: [] })
    const { right, brokenCount, waiting } = await verifyAudit({ db, ring })
    assert.deepEqual({ right, brokenCount, waiting }, { right: 3, brokenCount: 0, waiting: 0 })
  })

  it('is verified with the entry of every seal', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    await writeAudit(db, anEntry, anEntry)
    await seal(db)
    const seals = await whilePartitionIsCreated(db, () => listSeals(db, 0, 10))
    assert.deepEqual(seals.map(isEntry), [true, true])
  })

  it('inserts new entries into the right partition', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    await whilePartitionIsCreated(db, () => writeAudit(db, anEntry))
    const { rows } = await sql<{ part: string }>`
      select tableoid::regclass::text as part from audit_entries`.execute(db)
    assert.match(rows[0]!.part, /^audit_entries_\d{4}_\d\d$/)
  })
})
