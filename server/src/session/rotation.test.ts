import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gracePeriodMs, judgeRefresh } from './rotation.ts'

const now = new Date('2026-01-31T12:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)

describe('a presented refresh token', () => {
  it('is rotated when it is the newest', () => {
    assert.deepEqual(judgeRefresh({ counter: 5, rotations: [] }, 5, now), { kind: 'rotate' })
  })

  it('gives its successor again as long as nobody presented that, however late', () => {
    const repeat = { kind: 'repeat', successor: 5, renew: true }
    assert.deepEqual(judgeRefresh({ counter: 5, rotations: [] }, 4, now), repeat)
    assert.deepEqual(judgeRefresh({ counter: 5, rotations: [ago(1_001)] }, 4, now), repeat)
  })

  it('is noted as rotated now when it comes again, by one of those who present it at once', () => {
    const verdict = judgeRefresh({ counter: 5, rotations: [ago(1_000)] }, 4, now)
    assert.deepEqual(verdict, { kind: 'repeat', successor: 5, renew: false })
  })

  it('gives its own successor for 30 s although others are further', () => {
    const session = { counter: 5, rotations: [ago(gracePeriodMs), ago(9), ago(3)] }
    assert.deepEqual(judgeRefresh(session, 3, now), { kind: 'repeat', successor: 4, renew: false })
    assert.deepEqual(judgeRefresh(session, 2, now), { kind: 'repeat', successor: 3, renew: false })
  })

  it('is a copy when it was rotated more than 30 s ago and its successor was used', () => {
    const session = { counter: 5, rotations: [ago(gracePeriodMs + 1), ago(3)] }
    assert.deepEqual(judgeRefresh(session, 3, now), { kind: 'reuse' })
  })

  it('is a copy when its rotation is no longer known', () => {
    assert.deepEqual(judgeRefresh({ counter: 5, rotations: [ago(1)] }, 2, now), { kind: 'reuse' })
  })

  it('that was never handed out is a reuse', () => {
    assert.deepEqual(judgeRefresh({ counter: 5, rotations: [] }, 6, now), { kind: 'reuse' })
  })
})
