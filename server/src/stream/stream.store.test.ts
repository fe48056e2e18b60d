import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { findPostmaster } from '../db/embedded-orphan.ts'
import { openPostgres, type Db } from '../db/postgres.ts'
import { findHorizon } from './stream.store.ts'

async function waitForStandby(db: Db): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const found = await sql<{ is: boolean }>`select pg_is_in_recovery() as is`.execute(db).catch(() => undefined)
    if (found?.rows[0]?.is) return
    assert.ok(performance.now() < deadline, 'the standby does not answer')
    await sleep(50)
  }
}

test('a promoted standby is another cluster before its first checkpoint, and no other one after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-horizon-'))
  const dataDir = join(folder, 'postgres')
  const postgres = await openPostgres({ dataDir: folder })
  try {
    const db = postgres.owner
    const clusterOf = async () => (await findHorizon(db)).cluster
    const before = await clusterOf()
    // What the standby replays is written by its first checkpoint, slowly.
    await sql`create table written as select n, repeat('x', 1000) as text from generate_series(1, 20000) n`.execute(
      db,
    )
    assert.equal(await clusterOf(), before)
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
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
