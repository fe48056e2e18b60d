// The completeness of answers about flows: data waiting at any collector, and lost data.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { delayFieldsOf } from './flow-delay.ts'
import { readFlowDelay, saveFlowDelay } from './flow-delay.store.ts'

const minuteMs = 60_000
let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())
const db = () => database.postgres.owner
beforeEach(async () => {
  await sql`delete from flow_delays`.execute(db())
})

/** The fields of an answer about the time between these minutes ago. */
async function fields(fromMinutes: number, untilMinutes = 0) {
  const nowMs = Date.now()
  const window = { startMs: nowMs - fromMinutes * minuteMs, endMs: nowMs - untilMinutes * minuteMs }
  return delayFieldsOf(await readFlowDelay(db(), window), window)
}
const waitingSince = (minutes: number) => Date.now() - minutes * minuteMs
const quiet = { waitingMs: undefined, lost: [] }

describe('the delay of flows', () => {
  it('is unknown while no collector reports, and 0 if nothing waits', async () => {
    assert.deepEqual(await fields(60), { delay_seconds: null, complete_until: null, partial: false })
    await saveFlowDelay(db(), 'one', quiet)
    const { delay_seconds: seconds, partial } = await fields(60)
    assert.deepEqual([seconds, partial], [0, false])
  })

  it('is that of the collector that is farthest behind, and concerns windows that reach so far', async () => {
    await saveFlowDelay(db(), 'one', quiet)
    await saveFlowDelay(db(), 'two', { waitingMs: waitingSince(5), lost: [] })
    const answer = await fields(60)
    assert.ok(answer.delay_seconds! >= 300 && answer.delay_seconds! < 360, String(answer.delay_seconds))
    assert.equal(answer.partial, true)
    assert.ok(Math.abs(Date.parse(answer.complete_until!) - waitingSince(5)) < minuteMs)
    assert.equal((await fields(60, 10)).partial, false, 'older flows are all there')
    await saveFlowDelay(db(), 'two', quiet)
    assert.equal((await fields(60)).partial, false)
  })

  it('is no reason to call an answer partial until it is more than half a minute', async () => {
    await saveFlowDelay(db(), 'one', { waitingMs: Date.now() - 10_000, lost: [] })
    const { delay_seconds: seconds, partial } = await fields(60)
    assert.ok(seconds! >= 10)
    assert.equal(partial, false)
  })

  it('makes answers about a time partial of which flows were lost, for good', async () => {
    const second = Math.floor(waitingSince(30) / 1000)
    await saveFlowDelay(db(), 'one', { waitingMs: undefined, lost: [second, second, second + 60] })
    await saveFlowDelay(db(), 'one', quiet)
    assert.deepEqual(
      [(await fields(60)).partial, (await fields(20)).partial, (await fields(60, 40)).partial],
      [true, false, false],
    )
  })

  it('ends with a collector that no longer reports; what it had not stored stays missing', async () => {
    await saveFlowDelay(db(), 'one', { waitingMs: waitingSince(30), lost: [] })
    await sql`update flow_delays set reported = now() - interval '20 minutes'`.execute(db())
    await saveFlowDelay(db(), 'two', quiet)
    const answer = await fields(60)
    assert.deepEqual([answer.delay_seconds, answer.partial], [0, true])
    assert.equal((await fields(10)).partial, false)
  })
})
