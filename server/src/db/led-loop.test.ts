import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../lab/src/wait.ts'
import { pino } from 'pino'
import { createMetrics } from '../runtime/metrics.ts'
import { createLedLoop, type LedLoopSettings } from './led-loop.ts'
import { createTestDatabase, type TestDatabase } from './testing.ts'
import { createWaker } from './wake.ts'

let database: TestDatabase
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())

/** A loop with a log of its runs. */
function createLogged(name: string, settings: Partial<LedLoopSettings> = {}) {
  const { postgres } = database
  const done: string[] = []
  const deps = {
    postgres,
    waker: createWaker(postgres),
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
  }
  const loop = createLedLoop(deps, {
    name,
    sends: 'nothing',
    intervalMs: 20,
    run: async () => void done.push('run'),
    onStandby: () => void done.push('standby'),
    ...settings,
  })
  return { ...loop, done }
}

const has = (done: readonly string[], what: string) => until(() => done.includes(what))

describe('a led loop', () => {
  it('runs in one process, and in the next one after it has stopped', async () => {
    const [first, second] = [createLogged('work'), createLogged('work')]
    first.start()
    await has(first.done, 'run')
    second.start()
    await has(second.done, 'standby')
    assert.deepEqual([first.done.includes('standby'), second.done.includes('run')], [false, false])
    await first.stop()
    assert.equal(first.done.at(-1), 'standby')
    await has(second.done, 'run')
    await second.stop()
  })

  it('leaves the leadership to another process while it cannot do the work', async () => {
    let canLead = true
    const [first, second] = [createLogged('capable', { canLead: () => canLead }), createLogged('capable')]
    first.start()
    await has(first.done, 'run')
    second.start()
    await has(second.done, 'standby')
    canLead = false
    await has(second.done, 'run')
    assert.ok(first.done.includes('standby'))
    await Promise.all([first.stop(), second.stop()])
  })

  it('runs while the gate is closed only if it leads', async () => {
    const closed = (done: string[]) => ({
      gate: { state: 'closed' as const, mayApply: async () => false },
      whileClosed: async () => void done.push('closed'),
    })
    const dones: [string[], string[]] = [[], []]
    const [first, second] = dones.map((done) =>
      createLogged('gated', { sends: closed(done), onStandby: () => void done.push('standby') }),
    )
    first!.start()
    await has(dones[0], 'closed')
    second!.start()
    await has(dones[1], 'standby')
    assert.equal(dones[1].includes('closed'), false)
    await Promise.all([first!.stop(), second!.stop()])
  })

  it('stands by if it cannot know whether it leads', async () => {
    const directConnection = () => Promise.reject(new Error('no database'))
    const done: string[] = []
    const deps = {
      postgres: { directConnection },
      waker: createWaker(database.postgres),
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
    }
    const loop = createLedLoop(deps, {
      name: 'unknown',
      sends: 'nothing',
      intervalMs: 20,
      run: async () => void done.push('run'),
      onStandby: () => void done.push('standby'),
    })
    loop.start()
    await has(done, 'standby')
    await loop.stop()
    assert.equal(done.includes('run'), false)
  })

  it('reads before the run only if it leads, and passes on what it read', async () => {
    const reads: string[] = []
    const runs: string[] = []
    const { postgres } = database
    const deps = {
      postgres,
      waker: createWaker(postgres),
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
    }
    const create = (by: string) =>
      createLedLoop<string>(deps, {
        name: 'reading',
        sends: 'nothing',
        intervalMs: 20,
        read: async () => {
          reads.push(by)
          return `read by ${by}`
        },
        run: async (_signal, found) => void runs.push(found),
      })
    const first = create('first')
    const standby = createLogged('reading')
    first.start()
    await has(runs, 'read by first')
    const second = create('second')
    second.start()
    standby.start()
    await has(standby.done, 'standby')
    assert.deepEqual([reads.includes('second'), runs.includes('read by second')], [false, false])
    await Promise.all([standby.stop(), second.stop()])
    await first.stop()
  })
})
