import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterAttempt, attemptsMax, errorOf, failingMax, isGivenUp, restAfter } from './schedule.ts'
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
  it('is taken by 2xx and by nothing else', () => {
    for (const status of [200, 201, 204, 299]) assert.equal(errorOf(answered(status)), undefined)
    for (const status of [100, 300, 302, 304, 400, 404, 410, 429, 500, 503, 599]) {
      assert.match(errorOf(answered(status))!, new RegExp(`^the answer was ${status}`))
    }
    assert.equal(errorOf(silent), 'the connection was refused')
  })

  it('is tried ten times over three days', () => {
    const steps = Array.from({ length: attemptsMax }, (_, at) => waitAfter(silent, at + 1))
    assert.deepEqual(steps, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, 'failed'])
  })

  it('comes up to a fifth later, never earlier', () => {
    assert.equal(waitAfter(answered(500), 2, 0.999_999), 360)
    assert.equal(waitAfter(answered(500), 2, 0), 300)
  })

  it('waits as long as it is asked to, a day at most, and only by who is overloaded', () => {
    assert.equal(waitAfter(answered(429, 60), 1), 60)
    assert.equal(waitAfter(answered(503, 1), 2), 300)
    assert.equal(waitAfter(answered(503, 999_999_999), 1), 86_400)
    assert.equal(waitAfter(answered(500, 60), 1), 5)
  })

  it('is not tried again where nobody wants any', () => {
    assert.equal(waitAfter(answered(410), 1), 'failed')
  })
})

describe('a webhook', () => {
  it('rests when it does not answer, longer each time, five minutes at most', () => {
    const rests = [1, 2, 3, 7, 1000].map((failures) => restAfter(silent, failures) / 1000)
    assert.deepEqual(rests, [5, 10, 20, 300, 300])
  })

  it('does not rest for an answer that is wrong, and gets the pause that it asks for', () => {
    assert.equal(restAfter(answered(500), 9), 0)
    assert.equal(restAfter(answered(404, 60), 9), 0)
    assert.equal(restAfter(answered(200), 0), 0)
    assert.equal(restAfter(answered(429, 60), 1), 60_000)
    assert.equal(restAfter(answered(429, 999_999), 1), 3_600_000)
    assert.equal(restAfter(answered(502), 1), 5_000)
  })

  it('is given up after five days, by a message that was tried three times', () => {
    const now = new Date('2026-03-10T00:00:00Z')
    const since = (ms: number) => new Date(now.getTime() - ms)
    assert.equal(isGivenUp(since(failingMax), now, 3), true)
    assert.equal(isGivenUp(since(failingMax), now, 2), false)
    assert.equal(isGivenUp(since(failingMax - 1), now, 10), false)
  })
})
