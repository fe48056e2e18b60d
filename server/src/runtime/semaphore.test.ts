import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Failure } from './error.ts'
import { createSemaphore } from './semaphore.ts'

const gate = () => Promise.withResolvers<void>()

test('no more than the permits run at once, and the others follow in their order', async () => {
  const semaphore = createSemaphore({ permits: 2, waiting: 10, retryAfterSeconds: 1 })
  const gates = [gate(), gate(), gate(), gate()]
  const began: number[] = []
  const all = gates.map(({ promise }, at) => semaphore.run(() => (began.push(at), promise)))
  await Promise.resolve()
  assert.deepEqual([began, semaphore.running, semaphore.waiting], [[0, 1], 2, 2])
  gates[1]!.resolve()
  await all[1]
  assert.deepEqual([began, semaphore.running, semaphore.waiting], [[0, 1, 2], 2, 1])
  for (const { resolve } of gates) resolve()
  await Promise.all(all)
  assert.deepEqual([began, semaphore.running, semaphore.waiting], [[0, 1, 2, 3], 0, 0])
})

test('when the queue is full, a caller gets the retry time at once', async () => {
  const semaphore = createSemaphore({ permits: 1, waiting: 0, retryAfterSeconds: 3 })
  const { promise, resolve } = gate()
  const first = semaphore.run(() => promise)
  await assert.rejects(
    semaphore.run(async () => assert.fail('it ran')),
    (error) => error instanceof Failure && error.code === 'unavailable' && error.retryAfterSeconds === 3,
  )
  resolve()
  await first
  assert.equal(await semaphore.run(async () => 7), 7)
})

test('work that fails releases its permit', async () => {
  const semaphore = createSemaphore({ permits: 1, waiting: 1, retryAfterSeconds: 1 })
  await assert.rejects(
    semaphore.run(() => Promise.reject(new Error('work'))),
    /work/,
  )
  await assert.rejects(
    semaphore.run(() => {
      throw new Error('at once')
    }),
    /at once/,
  )
  assert.equal(semaphore.running, 0)
})

test('a caller who leaves the queue is not served and takes no permit', async () => {
  const semaphore = createSemaphore({ permits: 1, waiting: 2, retryAfterSeconds: 1 })
  const { promise, resolve } = gate()
  const first = semaphore.run(() => promise)
  const controller = new AbortController()
  const gone = semaphore.run(async () => assert.fail('it ran'), controller.signal)
  const third = semaphore.run(async () => 3)
  controller.abort(new Error('hung up'))
  await assert.rejects(gone, /hung up/)
  await assert.rejects(
    semaphore.run(async () => assert.fail('it ran'), controller.signal),
    /hung up/,
  )
  resolve()
  assert.equal(await third, 3)
  await first
  assert.deepEqual([semaphore.running, semaphore.waiting], [0, 0])
})

test('for any sequence of calls, the bounds hold and everything ends', async () => {
  const task = fc.record({ turns: fc.nat(3), fails: fc.boolean(), aborts: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(task, { maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      async (tasks, permits) => {
        const semaphore = createSemaphore({ permits, waiting: 5, retryAfterSeconds: 1 })
        let most = 0
        let inside = 0
        const runs = tasks.map(({ turns, fails, aborts }) => {
          const controller = new AbortController()
          const run = semaphore.run(async () => {
            most = Math.max(most, ++inside)
            for (let turn = 0; turn < turns; turn++) await Promise.resolve()
            inside--
            if (fails) throw new Error('fails')
          }, controller.signal)
          if (aborts) queueMicrotask(() => controller.abort())
          assert.ok(semaphore.waiting <= 5)
          return run
        })
        await Promise.allSettled(runs)
        assert.ok(most <= permits)
        assert.deepEqual([semaphore.running, semaphore.waiting, inside], [0, 0, 0])
      },
    ),
    { numRuns: 200 },
  )
})

test('a reservation gets the same answer as a run', async () => {
  const semaphore = createSemaphore({ permits: 1, waiting: 1, retryAfterSeconds: 3 })
  const { promise, resolve } = gate()
  semaphore.requireRoom()
  const first = semaphore.run(() => promise)
  semaphore.requireRoom()
  const second = semaphore.run(() => promise)
  assert.throws(() => semaphore.requireRoom(), Failure)
  resolve()
  await Promise.all([first, second])
  semaphore.requireRoom()
})
