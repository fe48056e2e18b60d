// When a reading is ended: without progress, and never while there is some.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DriverError } from '../../runtime/driver-error.ts'
import { watchProgress } from './watch-progress.ts'

const never = 3_600_000

test('a reading without answers is ended as unreachable', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = mockClock(t)
  using progress = watchProgress(() => 7, { stallMs: 12_000, totalMs: never })
  clock.advance(11_000)
  assert.equal(progress.signal.aborted, false)
  clock.advance(1_000)
  assert.deepEqual(kindOf(progress.signal), 'unreachable')
})

test('a reading that goes on is not ended, until it has taken as long as a table without an end', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = mockClock(t)
  let answers = 0
  using progress = watchProgress(() => answers, { stallMs: 12_000, totalMs: 600_000 })
  for (let seconds = 0; seconds < 590; seconds += 10) {
    answers++
    clock.advance(10_000)
    assert.equal(progress.signal.aborted, false)
  }
  answers++
  clock.advance(10_000)
  assert.equal(kindOf(progress.signal), 'protocol')
})

function mockClock(t: TestContext) {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  return {
    advance(ms: number) {
      for (let left = ms; left > 0; left -= 1_000) {
        now += 1_000
        t.mock.timers.tick(1_000)
      }
    },
  }
}

const kindOf = (signal: AbortSignal) => signal.reason instanceof DriverError && signal.reason.kind
