import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatShare, formatValue, logAxis, tickLabels, valueAxis } from './units.ts'

describe('a value', () => {
  it('has its unit', () => {
    assert.deepEqual(
      [
        formatValue(9.5e9, 'bps'),
        formatValue(861e3, 'pps'),
        formatValue(573e3, 'bytes'),
        formatValue(12_345, 'count'),
        formatValue(4.25, 'percent'),
        formatValue(-3.14, 'dBm'),
        formatValue(320, 'ms'),
      ],
      ['9.5 Gbps', '861 kpps', '573 kB', '12,345', '4.3 %', '-3.1 dBm', '320 ms'],
    )
  })

  it('as a share is never rounded to nothing or to everything', () => {
    assert.deepEqual(
      [
        formatShare(34, 100),
        formatShare(1, 1000),
        formatShare(999, 1000),
        formatShare(5, 5),
        formatShare(0, 0),
      ],
      ['34 %', '<1 %', '>99 %', '100 %', '–'],
    )
  })
})

describe('a value axis', () => {
  it('begins at 0 and ends at a tick that no value exceeds', () => {
    assert.deepEqual(valueAxis(0, 9.5e9, 'bps', 5).ticks, [0, 2e9, 4e9, 6e9, 8e9, 10e9])
    assert.deepEqual(valueAxis(3, 10, 'count', 4).ticks, [0, 3, 6, 9, 12])
    for (let high = 1; high < 1e13; high *= 1.7) {
      const { min, max, ticks } = valueAxis(0, high, 'bps', 5)
      assert.ok(min === 0 && max >= high && ticks.length <= 7, String(high))
      // The axis of an axis is the same.
      assert.deepEqual(valueAxis(min, max, 'bps', ticks.length - 1).ticks, ticks)
    }
  })

  it('has whole steps for things that are counted', () => {
    assert.deepEqual(valueAxis(0, 1, 'count', 5).ticks, [0, 1])
    assert.deepEqual(valueAxis(0, 0, 'count', 5).ticks, [0, 1])
  })

  it('of optical levels begins below the lowest one', () => {
    assert.deepEqual(valueAxis(-7.2, -2.1, 'dBm', 4).ticks, [-8, -6, -4, -2])
  })

  it('of a share ends at 100 % if the values come near, and of durations has steps of a clock', () => {
    assert.equal(valueAxis(0, 82, 'percent', 5).max, 100)
    assert.deepEqual(valueAxis(0, 100_000, 'ms', 4).ticks, [0, 30_000, 60_000, 90_000, 120_000])
  })

  it('on a logarithmic scale has powers of ten around the values', () => {
    assert.deepEqual(logAxis(3e6, 4e9).ticks, [1e6, 1e7, 1e8, 1e9, 1e10])
    assert.deepEqual(logAxis(1e6, 1e6).ticks, [1e6, 1e7])
  })

  it('has labels in one unit', () => {
    assert.deepEqual(tickLabels([0, 2.5e9, 5e9], 'bps'), ['0', '2.5 Gbps', '5 Gbps'])
    assert.deepEqual(tickLabels([0, 500e6, 1e9], 'bps'), ['0', '0.5 Gbps', '1 Gbps'])
    assert.deepEqual(tickLabels([0, 5, 10], 'count'), ['0', '5', '10'])
    assert.deepEqual(tickLabels([1e6, 1e9], 'bps', true), ['1 Mbps', '1 Gbps'])
    assert.deepEqual(tickLabels([-4, 0], 'dBm'), ['-4 dBm', '0 dBm'])
  })
})
