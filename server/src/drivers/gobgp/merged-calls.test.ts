import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { MergedCalls } from './merged-calls.ts'

const options = { delayMs: 50, delayMsMax: 1_000 }

it('merges many notifications into one call, and makes one more for later ones', (t) => {
  const { calls, merged } = start(t)
  for (let at = 0; at < 10_000; at++) merged.notify()
  t.mock.timers.tick(49)
  assert.equal(calls(), 0)
  t.mock.timers.tick(1)
  assert.equal(calls(), 1)
  merged.notify()
  t.mock.timers.tick(100)
  assert.equal(calls(), 2)
})

it('calls less and less often during endless notifications, and soon again after a pause', (t) => {
  const { calls, merged } = start(t)
  for (let elapsedMs = 0; elapsedMs < 10_000; elapsedMs += 10) {
    merged.notify()
    t.mock.timers.tick(10)
  }
  // 50 + 100 + 200 + 400 + 800 + 1,000 + ...
  assert.ok(calls() >= 12 && calls() <= 14, `${calls()} calls`)
  t.mock.timers.tick(1_000)
  t.mock.timers.tick(2_000)
  const before = calls()
  merged.notify()
  t.mock.timers.tick(50)
  assert.equal(calls(), before + 1)
})

it('makes no call once it is cancelled', (t) => {
  const { calls, merged } = start(t)
  merged.notify()
  merged.cancel()
  t.mock.timers.tick(10_000)
  assert.equal(calls(), 0)
})

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let calls = 0
  const merged = new MergedCalls(() => calls++, options)
  return { calls: () => calls, merged }
}
