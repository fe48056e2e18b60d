import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RateLimiter } from './rate-limit.ts'

describe('a rate limiter', () => {
  const at = (ms: { now: number }) => () => ms.now

  it('lets a burst through, then as many as the rate allows', () => {
    const clock = { now: 0 }
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, at(clock))
    assert.deepEqual(
      [1, 2, 3].map(() => limiter.take('a').remaining),
      [2, 1, 0],
    )
    assert.throws(() => limiter.take('a'), { code: 'rate_limited', retryAfterSeconds: 1 })
    clock.now = 500
    assert.equal(limiter.take('a').remaining, 0)
    assert.throws(() => limiter.take('a'), { code: 'rate_limited' })
  })

  it('counts each key separately, and returns the remaining requests and the reset time', () => {
    const clock = { now: 0 }
    const limiter = new RateLimiter({ perSecond: 1, burst: 10 }, at(clock))
    limiter.take('a')
    assert.deepEqual(limiter.take('b'), { limit: 10, remaining: 9, resetSeconds: 1 })
    assert.deepEqual(limiter.take('a'), { limit: 10, remaining: 8, resetSeconds: 2 })
    clock.now = 60_000
    assert.deepEqual(limiter.take('a'), { limit: 10, remaining: 9, resetSeconds: 1 })
  })

  it('refunds tokens that should not count, and never holds more than a burst', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, () => 0)
    limiter.take('a')
    limiter.giveBack('a')
    limiter.giveBack('a')
    assert.equal(limiter.take('a').remaining, 1)
    assert.equal(limiter.take('a').remaining, 0)
    assert.throws(() => limiter.take('a'), { code: 'rate_limited' })
  })

  it('deletes keys that are unused for long, and keeps its memory bounded against many keys', () => {
    const clock = { now: 0 }
    const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, at(clock))
    for (let key = 0; key < 250_000; key++) limiter.take(`key ${key}`)
    assert.ok(limiter.size <= 100_000)
  })
})
