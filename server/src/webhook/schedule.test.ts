import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterAttempt, attemptsMax, errorOf, failingMax, mustBeDisabled, restAfter } from './schedule.ts'
import type { SendResult } from './webhook-sender.ts'

const answered = (status: number, retryAfterSeconds: number | null = null): SendResult => ({
  kind: 'answered',
  status,
  retryAfterSeconds,
  text: '',
  durationMs: 1,
})
const silent: SendResult = { kind: 'unanswered', error: 'the connection was refused', durationMs: 1 }

const waitAfter = (result: SendResult, step: number, random = 0) => {
  const next = afterAttempt(result, step, random)
  return next.state === 'pending' ? next.waitMs / 1000 : next.state
}

describe('a message', () => {
  it('is accepted by 2xx only', () => {
    for (const status of [200, 201, 204, 299]) assert.equal(errorOf(answered(status)), undefined)
    for (const status of [100, 300, 302, 304, 400, 404, 410, 429, 500, 503, 599]) {
      assert.match(errorOf(answered(status))!, new RegExp(`^the response was ${status}`))
    }
    assert.equal(errorOf(silent), 'the connection was refused')
  })

  it('has ten attempts in three days', () => {
    const steps = Array.from({ length: attemptsMax }, (_, at) => waitAfter(silent, at + 1))
    assert.deepEqual(steps, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, 'failed'])
  })

  it('is delayed by up to 20 % jitter, never sent early', () => {
    assert.equal(waitAfter(answered(500), 2, 0.999_999), 360)
    assert.equal(waitAfter(answered(500), 2, 0), 300)
  })

  it('honours Retry-After up to a day, of overloaded endpoints only', () => {
    assert.equal(waitAfter(answered(429, 60), 1), 60)
    assert.equal(waitAfter(answered(503, 1), 2), 300)
    assert.equal(waitAfter(answered(503, 999_999_999), 1), 86_400)
    assert.equal(waitAfter(answered(500, 60), 1), 5)
  })

  it('is not retried after 410 Gone', () => {
    assert.equal(waitAfter(answered(410), 1), 'failed')
  })
})

describe('a webhook', () => {
  it('is paused if it does not respond, longer each time, for up to five minutes', () => {
    const rests = [1, 2, 3, 7, 1000].map((failures) => restAfter(silent, failures) / 1000)
    assert.deepEqual(rests, [5, 10, 20, 300, 300])
  })

  it('is not paused after an error response, except as requested by Retry-After', () => {
    assert.equal(restAfter(answered(500), 9), 0)
    assert.equal(restAfter(answered(404, 60), 9), 0)
    assert.equal(restAfter(answered(200), 0), 0)
    assert.equal(restAfter(answered(429, 60), 1), 60_000)
    assert.equal(restAfter(answered(429, 999_999), 1), 3_600_000)
    assert.equal(restAfter(answered(502), 1), 5_000)
  })

  it('is disabled after five days, by a message with three attempts', () => {
    const now = new Date('2026-03-10T00:00:00Z')
    const since = (ms: number) => new Date(now.getTime() - ms)
    assert.equal(mustBeDisabled(since(failingMax), now, 3), true)
    assert.equal(mustBeDisabled(since(failingMax), now, 2), false)
    assert.equal(mustBeDisabled(since(failingMax - 1), now, 10), false)
  })
})
