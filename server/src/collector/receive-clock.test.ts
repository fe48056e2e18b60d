import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReceiveClock } from './receive-clock.ts'

describe('the clock of flows', () => {
  const started = () => {
    const at = { wall: 1_000_000, monotonic: 5 }
    const now = createReceiveClock({ wallMs: () => at.wall, monotonicMs: () => at.monotonic })
    const pass = (ms: number) => {
      at.wall += ms
      at.monotonic += ms
    }
    return { at, now, pass }
  }

  it('follows small corrections at once', () => {
    const { at, now, pass } = started()
    pass(100)
    at.wall += 900
    assert.equal(now(), 1_001_000)
  })

  it('ignores a jump until it has lasted for a minute, in both directions', () => {
    for (const jump of [3_600_000, -3_600_000]) {
      const { at, now, pass } = started()
      at.wall += jump
      assert.equal(now(), 1_000_000)
      pass(59_000)
      assert.equal(now(), 1_059_000)
      pass(1_000)
      assert.equal(now(), 1_060_000 + jump)
    }
  })

  it('forgets a jump that was taken back', () => {
    const { at, now, pass } = started()
    at.wall += 3_600_000
    now()
    pass(50_000)
    at.wall -= 3_600_000
    assert.equal(now(), 1_050_000)
    pass(50_000)
    at.wall += 3_600_000
    assert.equal(now(), 1_100_000)
  })
})
