import assert from 'node:assert/strict'
import { mock, test, type TestContext } from 'node:test'
import { fail } from './error.ts'
import { silentLog } from './log.ts'
import { createLoop, type LoopOptions } from './loop.ts'
import { createMetrics } from './metrics.ts'

const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

function loopOf(run: LoopOptions['run'], more: Partial<LoopOptions> = {}) {
  const metrics = createMetrics()
  const loop = createLoop({
    name: 'l',
    intervalMs: 1000,
    sends: 'nothing',
    run,
    log: silentLog,
    metrics,
    ...more,
  })
  return { metrics, loop }
}

function fakeTimers(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
}

test('it runs at its start, and at the interval after the end of each run', async (t) => {
  fakeTimers(t)
  let runs = 0
  const { loop } = loopOf(async () => void runs++)
  await turns()
  assert.equal(runs, 0)
  loop.start()
  loop.start()
  await turns()
  assert.equal(runs, 1)
  mock.timers.tick(999)
  await turns()
  assert.equal(runs, 1)
  mock.timers.tick(1)
  await turns()
  assert.equal(runs, 2)
  await loop.stop()
  mock.timers.tick(5000)
  loop.wake()
  await turns()
  assert.equal(runs, 2)
})

test('wakes during a run cause one run after it, never one beside it', async () => {
  let inside = 0
  let most = 0
  let runs = 0
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { loop } = loopOf(async () => {
    most = Math.max(most, ++inside)
    await gates[runs++]?.promise
    inside--
  })
  loop.start()
  await turns()
  for (let wakes = 0; wakes < 5; wakes++) loop.wake()
  await turns()
  assert.deepEqual([runs, most], [1, 1])
  gates[0]!.resolve()
  await turns()
  assert.deepEqual([runs, most], [2, 1])
  gates[1]!.resolve()
  await turns()
  assert.deepEqual([runs, most], [2, 1])
  await loop.stop()
})

test('a wake between runs does not wait for the interval, and restarts the interval', async (t) => {
  fakeTimers(t)
  let runs = 0
  const { loop } = loopOf(async () => void runs++)
  loop.start()
  await turns()
  mock.timers.tick(900)
  loop.wake()
  await turns()
  assert.equal(runs, 2)
  mock.timers.tick(900)
  await turns()
  assert.equal(runs, 2)
  mock.timers.tick(100)
  await turns()
  assert.equal(runs, 3)
  await loop.stop()
})

test('a failed run is counted and logged once, and the next run is the retry', async (t) => {
  fakeTimers(t)
  let runs = 0
  const errors: unknown[] = []
  const log = {
    ...silentLog,
    error: (fields: unknown) => void errors.push(fields),
  } as unknown as typeof silentLog
  const { loop, metrics } = loopOf(
    async () => {
      if (runs++ === 0) throw new Error('broken')
    },
    { log },
  )
  loop.start()
  await turns()
  assert.equal(errors.length, 1)
  mock.timers.tick(1000)
  await turns()
  assert.equal(runs, 2)
  const text = await metrics.registry.metrics()
  await loop.stop()
  assert.match(text, /pharos_loop_interval_seconds\{loop="l"\} 1$/m)
  assert.doesNotMatch(await metrics.registry.metrics(), /pharos_loop_(interval|last_success)\w*\{/)
  assert.match(text, /pharos_loop_runs_total\{loop="l",result="failed"\} 1/)
  assert.match(text, /pharos_loop_runs_total\{loop="l",result="ok"\} 1/)
  assert.match(text, /pharos_loop_run_duration_seconds_count\{loop="l"\} 2/)
  assert.match(text, /pharos_loop_last_success_timestamp_seconds\{loop="l"\} \d{10}/)
})

test('the first two failures because the database is not available are warnings without a stack', async () => {
  const logged: [level: string, fields: object][] = []
  const record = (level: string) => (fields: object) => void logged.push([level, fields])
  const log = { ...silentLog, warn: record('warn'), error: record('error') } as unknown as typeof silentLog
  const results = [false, false, false, true, false]
  const failure = fail('unavailable', 'database', { cause: new Error('timeout expired') })
  const run = async () => {
    if (!results.shift()) throw failure
  }
  const { loop } = loopOf(run, { log })
  while (results.length > 0) await loop.runOnce().catch(() => {})
  const reason = 'The database is not available. Try again later.'
  const warning = ['warn', { loop: 'l', reason, cause: 'timeout expired' }]
  assert.deepEqual(logged, [warning, warning, ['error', { loop: 'l', error: failure }], warning])
})

test('a run that throws at once does not end the loop', async () => {
  let runs = 0
  const { loop } = loopOf(() => {
    runs++
    throw new Error('at once')
  })
  await assert.rejects(loop.runOnce(), /at once/)
  await assert.rejects(loop.runOnce(), /at once/)
  assert.equal(runs, 2)
})

test('stopping aborts the run, waits for it, and does not count it as failed', async () => {
  const metrics = createMetrics()
  let ended = false
  const { loop } = loopOf(
    async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await turns()
      ended = true
      signal.throwIfAborted()
    },
    { metrics },
  )
  loop.start()
  await turns()
  loop.wake()
  await loop.stop()
  assert.equal(ended, true)
  assert.doesNotMatch(await metrics.registry.metrics(), /result="failed"/)
})

test('runOnce resolves with a run that started after the call', async () => {
  const gate = Promise.withResolvers<void>()
  let state = 'old'
  const seen: string[] = []
  const { loop } = loopOf(async () => {
    seen.push(state)
    await gate.promise
  })
  const first = loop.runOnce()
  await turns()
  state = 'new'
  const second = loop.runOnce()
  const third = loop.runOnce()
  gate.resolve()
  await Promise.all([first, second, third])
  assert.deepEqual(seen, ['old', 'new'])
})

test('a caller that waits for a run gets an error when the loop stops', async () => {
  const gate = Promise.withResolvers<void>()
  const { loop } = loopOf(() => gate.promise)
  loop.start()
  await turns()
  const waiting = assert.rejects(loop.runOnce(), /was stopped/)
  const stopped = loop.stop()
  gate.resolve()
  await Promise.all([waiting, stopped])
})

test('a run that takes too long has its signal aborted, which is a failure', async (t) => {
  fakeTimers(t)
  const { loop, metrics } = loopOf(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { timeoutMs: 500 },
  )
  loop.start()
  await turns()
  mock.timers.tick(500)
  await turns()
  assert.match(await metrics.registry.metrics(), /result="failed"\} 1/)
  await loop.stop()
})

test('a stopped loop can be started again', async () => {
  let runs = 0
  const { loop } = loopOf(async () => void runs++)
  for (const expected of [1, 2]) {
    loop.start()
    await turns()
    await loop.stop()
    assert.equal(runs, expected)
  }
})

test('a loop that sends asks the gate before each run, and makes the other run while it is closed', async () => {
  const runs: string[] = []
  let isOpen = false
  const gate = { mayApply: async () => isOpen, state: 'unknown' as const }
  const { loop } = loopOf(async () => void runs.push('run'), {
    sends: { gate, whileClosed: async () => void runs.push('compare') },
  })
  await loop.runOnce()
  isOpen = true
  await loop.runOnce()
  assert.deepEqual(runs, ['compare', 'run'])
})

test('a loop that sends does not run while the gate is closed or cannot answer', async () => {
  let runs = 0
  let answer: () => Promise<boolean> = async () => false
  const gate = { mayApply: () => answer(), state: 'unknown' as const }
  const { loop, metrics } = loopOf(async () => void runs++, { sends: { gate } })
  await loop.runOnce()
  answer = () => Promise.reject(new Error('no database'))
  await assert.rejects(loop.runOnce(), /no database/)
  assert.equal(runs, 0)
  const { values } = await metrics.loopRuns.get()
  assert.deepEqual(values.map(({ labels }) => labels.result).sort(), ['failed', 'held'])
})
