import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { version } from '../runtime/version.ts'
import { saveProcess } from './status.store.ts'

let database: TestDatabase
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())

describe('saveProcess', () => {
  const save = () =>
    saveProcess(database.postgres.owner, {
      id: randomUUID(),
      host: 'one',
      pid: 1,
      version,
      roles: ['api'],
      started: new Date(),
      loops: [],
      registries: [],
      flow_store: null,
    })
  const now = Date.now

  it('returns by how much the clock is ahead of that of the database', async (t) => {
    t.mock.method(Date, 'now', () => now() + 60_000)
    let clockMs = null
    // A busy machine may answer too late to compare.
    while (clockMs === null) clockMs = (await save()).clockMs
    assert.ok(Math.abs(clockMs - 60_000) <= 2_000, String(clockMs))
  })

  it('compares nothing if the answer took long: the wait is no difference of clocks', async (t) => {
    let calls = 0
    t.mock.method(Date, 'now', () => now() + calls++ * 10_000)
    assert.equal((await save()).clockMs, null)
  })
})
