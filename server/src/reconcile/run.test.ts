// The order of a run, and which failures it saves, against a row in PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../db/testing.ts'
import { fail } from '../runtime/error.ts'
import { LeaseLost, TargetLock, type Lease, type LeaseTarget } from './lease.ts'
import { pauseMsMax, runOnce, type Reconciler } from './run.ts'

let database: TestDatabase
let id = 0
let lock: TargetLock
let lease: Lease
let done: string[]
let nowMs: number
before(async () => void (database = await createTestDatabase()))
after(async () => {
  await lock.release()
  await database[Symbol.asyncDispose]()
})

const db = () => database.postgres.owner

const target = (): LeaseTarget => ({
  name: 'scrubber edge',
  lock: [1, id],
  raise: { text: 'update scrubbers set epoch = epoch + 1 where id = $1 returning epoch', values: [id] },
  share: (fenceTimeout) => sql<{ epoch: number }>`
    select epoch, set_config('idle_in_transaction_session_timeout', ${fenceTimeout}, true)
    from scrubbers where id = ${id} for share`,
})

beforeEach(async () => {
  await lock?.release()
  await emptyTables(db(), ['scrubbers'])
  const { rows } = await sql<{ id: number }>`
    insert into scrubbers (name, driver) values ('edge', '{}') returning id`.execute(db())
  id = rows[0]!.id
  lock = new TargetLock(database.postgres, target())
  lease = (await lock.hold())!
  done = []
  nowMs = 0
})

const takeOver = () => sql`update scrubbers set epoch = epoch + 1`.execute(db())

/** Ends the session that has the row, as PostgreSQL does with an idle transaction. */
const endFence = () =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'
    and datname = current_database()`.execute(db())

type Steps = Reconciler<string, string, string, string, string>

const run = (steps: Partial<Steps> = {}): Promise<string> =>
  runOnce({ db: db(), elapsedMs: () => nowMs }, lease, {
    read: async () => (done.push('read'), 'desired'),
    decide: (read) => (done.push('decide'), read),
    isEmpty: () => false,
    async send(decided, requireCurrent) {
      await requireCurrent()
      done.push('send')
      return decided
    },
    readBack: async (_, sent) => (done.push(`read back ${sent}`), 'observed'),
    save: async ({ fence }) => fence(db(), async () => (done.push('save'), 'report')),
    saveFailure: async (_, error) => void done.push(`failed: ${(error as Error).message}`),
    ...steps,
  })

describe('a run', () => {
  it('has one order, and returns the report', async () => {
    assert.equal(await run(), 'report')
    assert.deepEqual(done, ['read', 'decide', 'send', 'read back desired', 'save'])
  })

  it('sends nothing if nothing differs, and saves what it read', async () => {
    await run({ isEmpty: () => true })
    assert.deepEqual(done, ['read', 'decide', 'read back undefined', 'save'])
  })

  it('saves a failure, and rejects with it', async () => {
    await assert.rejects(run({ read: () => Promise.reject(new Error('no answer')) }), /no answer/)
    await assert.rejects(run({ save: () => Promise.reject(new Error('not enforced')) }), /not enforced/)
    assert.deepEqual(
      done.filter((step) => step.startsWith('failed')),
      ['failed: no answer', 'failed: not enforced'],
    )
  })

  it('rejects with the first failure if that cannot be saved either', async () => {
    const saveFailure = () => Promise.reject(new Error('not saved'))
    await assert.rejects(
      run({ read: () => Promise.reject(new Error('no answer')), saveFailure }),
      /no answer/,
    )
  })

  it('saves no failure while the database is away', async () => {
    const read = () => Promise.reject(fail('unavailable', 'database'))
    await assert.rejects(run({ read }))
    assert.deepEqual(done, [])
  })

  it('sends, saves and reports nothing after another process has taken over', async () => {
    await assert.rejects(
      run({
        async read() {
          await takeOver()
          return 'outdated'
        },
      }),
      LeaseLost,
    )
    assert.deepEqual(done, ['decide'])
  })

  it('saves nothing if another process takes over after it sent', async () => {
    await assert.rejects(run({ readBack: async () => (await takeOver(), 'observed') }), LeaseLost)
    assert.deepEqual(done, ['read', 'decide', 'send'])
  })

  it('makes a takeover wait until everything is sent', async () => {
    const steps: string[] = []
    let taken: Promise<unknown> | undefined
    await run({
      async send(decided) {
        taken = takeOver().then(() => steps.push('taken over'))
        await sql`select pg_sleep(0.1)`.execute(db())
        steps.push('sent')
        return decided
      },
      // Its own fence would be refused.
      save: async () => 'report',
    })
    await taken
    assert.deepEqual(steps, ['sent', 'taken over'])
  })

  it('sends nothing more after a pause, before the first step and between two', async () => {
    const read = async () => ((nowMs += pauseMsMax + 1), 'desired')
    await assert.rejects(run({ read }), { name: 'RunPaused' })
    const send: Steps['send'] = async (decided, requireCurrent) => {
      await requireCurrent()
      done.push('first')
      nowMs += pauseMsMax + 1
      await requireCurrent()
      done.push('second')
      return decided
    }
    done = []
    await assert.rejects(run({ send }), { name: 'RunPaused' })
    assert.deepEqual(done, ['read', 'decide', 'first'])
  })

  it('sends nothing more once PostgreSQL has ended its fence', async () => {
    await assert.rejects(
      run({
        async send(decided, requireCurrent) {
          await requireCurrent()
          done.push('first')
          await endFence()
          await requireCurrent()
          done.push('second')
          return decided
        },
      }),
    )
    assert.deepEqual(done, ['read', 'decide', 'first'])
  })
})

describe('a lease', () => {
  it('is the same until the lock is released, and has a higher epoch then', async () => {
    assert.equal(await lock.hold(), lease)
    await lock.release()
    const next = (await lock.hold())!
    assert.equal(next.epoch, lease.epoch + 1)
    await assert.rejects(
      lease.fence(db(), async () => done.push('sent')),
      {
        name: 'LeaseLost',
        message: 'scrubber edge was taken over by another reconciler',
      },
    )
    assert.deepEqual(done, [])
  })

  it('is not given for a target that does not exist', async () => {
    await lock.release()
    await emptyTables(db(), ['scrubbers'])
    await assert.rejects(lock.hold(), /scrubber edge does not exist/)
  })
})
