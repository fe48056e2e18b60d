import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadTrend } from './load-trend.ts'

describe('the load of a port', () => {
  it('is a part of its speed, with its growth and when it is busy', () => {
    assert.deepEqual(loadTrend({ now: 4e9, before: 2e9, speed: 10e9 }), {
      share: 0.4,
      isBusy: false,
      growth: 1,
      busyInMonths: 1,
    })
    assert.equal(loadTrend({ now: 5.25e9, before: 5e9, speed: 10e9 }).busyInMonths, 9)
  })

  it('is busy from 80 %, and has no forecast then, nor if it shrinks or grows too slowly', () => {
    assert.equal(loadTrend({ now: 8e9, before: 4e9, speed: 10e9 }).isBusy, true)
    for (const [now, before] of [
      [8e9, 4e9],
      [4e9, 5e9],
      [1e9, 0.99e9],
      [0, 1],
    ] as const)
      assert.equal(loadTrend({ now, before, speed: 10e9 }).busyInMonths, undefined)
  })

  it('says only what is known', () => {
    assert.deepEqual(loadTrend({ now: 4e9, before: null, speed: null }), { isBusy: false })
    assert.deepEqual(loadTrend({ now: null, before: 2e9, speed: 10e9 }), { isBusy: false })
    assert.deepEqual(loadTrend({ now: 4e9, before: 0, speed: 10e9 }), { share: 0.4, isBusy: false })
  })
})
