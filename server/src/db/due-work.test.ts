import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { claimRows, createDueWorker, dueTables } from './due-work.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'

const never = new AbortController().signal

/** A worker over the numbers; the test ends the work of each. */
function createFake(numbers: number[], parallel: number) {
  const waiting = new Map<number, PromiseWithResolvers<void>>()
  const started: number[] = []
  const errors: unknown[] = []
  let ended = 0
  const worker = createDueWorker<number>({
    parallel,
    claim: async (limit) => numbers.splice(0, limit),
    work(row) {
      started.push(row)
      const task = Promise.withResolvers<void>()
      waiting.set(row, task)
      return task.promise
    },
    onError: (error) => errors.push(error),
    onEnd: () => ended++,
  })
  return { worker, waiting, started, errors, ended: () => ended }
}

describe('a due worker', () => {
  it('fills its capacity without waiting, and no more than that', async () => {
    const { worker, waiting, started, ended } = createFake([1, 2, 3, 4, 5], 3)
    assert.deepEqual([await worker.fill(), await worker.fill(), worker.running], [3, 0, 3])
    waiting.get(2)!.resolve()
    await turn()
    assert.deepEqual([ended(), await worker.fill(), started], [1, 1, [1, 2, 3, 4]])
    for (const task of waiting.values()) task.resolve()
    await worker.settled()
    assert.equal(worker.running, 0)
  })

  it('drains until nothing is due, while one row takes long', async () => {
    const { worker, waiting, started } = createFake([1, 2, 3, 4, 5], 2)
    const drained = worker.drain(never)
    for (const row of [2, 3, 4, 5]) {
      while (!waiting.has(row)) await turn()
      waiting.get(row)!.resolve()
    }
    while (started.length < 5) await turn()
    waiting.get(1)!.resolve()
    await drained
    assert.deepEqual(started, [1, 2, 3, 4, 5])
  })

  it('reports a row that fails, and works on the others', async () => {
    const { worker, waiting, errors } = createFake([1, 2], 1)
    const drained = worker.drain(never)
    while (!waiting.has(1)) await turn()
    waiting.get(1)!.reject(new Error('a bug'))
    while (!waiting.has(2)) await turn()
    waiting.get(2)!.resolve()
    await drained
    assert.match(String(errors), /a bug/)
  })

  it('starts no row after the signal, and waits for those that it started', async () => {
    const { worker, waiting, started } = createFake([1, 2, 3], 1)
    const abort = new AbortController()
    const drained = worker.drain(abort.signal)
    while (!waiting.has(1)) await turn()
    abort.abort()
    waiting.get(1)!.resolve()
    await drained
    assert.deepEqual(started, [1])
  })
})

describe('claims of due rows', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
    await sql`insert into mails (recipient, template, content_sealed)
      select n || '@example.net', 'test', '' from generate_series(1, 20) n`.execute(database.postgres.owner)
  })
  after(() => database[Symbol.asyncDispose]())

  it('never claim a row twice or more rows than their limit, however many run at once', async () => {
    const claim = () =>
      claimRows<{ id: number }>(database.postgres.owner, 'mails', {
        due: sql`select r.id from mails r where r.due <= now() order by r.due, r.id limit ${3}`,
        lease: sql`due = now() + interval '1 minute'`,
        returning: sql`r.id`,
      })
    const claimed: number[] = []
    for (let round = 0; round < 10; round++)
      for (const rows of await Promise.all([claim(), claim(), claim()])) {
        assert.ok(rows.length <= 3)
        claimed.push(...rows.map(({ id }) => id))
      }
    assert.equal(claimed.length, 20)
    assert.equal(new Set(claimed).size, 20)
  })

  it('are how the rows of every table with a lease are claimed', async () => {
    const { rows } = await sql<{ table: string }>`
      select c.table_name as table from information_schema.columns c natural join information_schema.tables t
      where t.table_type = 'BASE TABLE' and c.table_schema = 'public' and c.column_name in ('leased_until', 'lease_until', 'claimed_until')
      order by 1`.execute(database.postgres.owner)
    // A mail is leased by the time when it is due again.
    const withoutColumn = ['mails']
    assert.deepEqual(
      [...rows.map(({ table }) => table), ...withoutColumn].sort(),
      Object.keys(dueTables).sort(),
    )
  })
})
