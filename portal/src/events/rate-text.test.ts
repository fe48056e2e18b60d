import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameRate, parseRate, rateText } from './rate-text.ts'

test('a minimum rate is read with or without a unit, in bits or packets', () => {
  for (const [text, rate] of [
    ['500 Mbps', { min_bps: 500_000_000 }],
    ['1.5G', { min_bps: 1_500_000_000 }],
    ['1,5 gbit/s', { min_bps: 1_500_000_000 }],
    ['100 kpps', { min_pps: 100_000 }],
    ['20 PPS', { min_pps: 20 }],
    ['1000', { min_bps: 1000 }],
    ['  ', {}],
  ] as const) {
    assert.deepEqual(parseRate(text), rate, text)
  }
  for (const text of ['fast', '-1', '5 MB', '1e9', '99999T']) assert.equal(parseRate(text), undefined, text)
})

test('a minimum rate of the address is shown as it can be typed', () => {
  for (const rate of [{ min_bps: 1_500_000_000 }, { min_pps: 100_000 }, {}]) {
    assert.ok(isSameRate(parseRate(rateText(rate)), rate))
  }
})
