import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { findPostmaster } from '../db/embedded-orphan.ts'
import type { Db } from '../db/postgres.ts'
import { createTestDatabase } from '../db/testing.ts'
import { silentLog } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { createOutboxListener, type OutboxListener } from './outbox-listener.ts'
import { findHorizon } from './stream.store.ts'

const never = new AbortController().signal

async function waitForStandby(db: Db): Promise<void> {
  const deadline = performance.now() + 300_000
  for (;;) {
    const found = await sql<{ is: boolean }>`select pg_is_in_recovery() as is`
      .execute(db)
      .catch(() => undefined)
    if (found?.rows[0]?.is) return
    assert.ok(performance.now() < deadline, 'the standby does not answer')
    await sleep(50)
  }
}

test('a promoted standby is another cluster before its first checkpoint, none after it, and ends open streams', async () => {
  await using database = await createTestDatabase({ durable: true })
  const { owner: db } = database.postgres
  const dataDir = database.dataDir!
  let listener: OutboxListener | undefined
  try {
    const clusterOf = async () => (await findHorizon(db)).cluster
    const before = await clusterOf()
    // The standby's first checkpoint writes the replayed data, slowly.
    await sql`create table written as select n, repeat('x', 1000) as text from generate_series(1, 20000) n`.execute(
      db,
    )
    assert.equal(await clusterOf(), before)
    const waker = { on: () => () => {}, connected: true, start: async () => {}, stop: async () => {} }
    listener = createOutboxListener({ db, waker, log: silentLog, metrics: createMetrics() })
    listener.start()
    const subscription = listener.subscribe(1)
    assert.equal(await subscription.next(60_000, never), 'messages')
    writeFileSync(join(dataDir, 'standby.signal'), '')
    process.kill(findPostmaster(dataDir)!.pid, 'SIGQUIT')
    await waitForStandby(db)
    await sql`select pg_promote()`.execute(db)
    const promoted = await clusterOf()
    const { rows } = await sql<{ timeline: number }>`
      select timeline_id as timeline from pg_control_checkpoint()`.execute(db)
    assert.equal(rows[0]!.timeline, 1, 'the checkpoint came too early for this test')
    await sql`checkpoint`.execute(db)
    assert.equal(await clusterOf(), promoted)
    assert.notEqual(promoted, before)
    assert.equal(await subscription.next(60_000, never), 'ended')
  } finally {
    await listener?.stop()
  }
})
