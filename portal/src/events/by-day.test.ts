import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Series, Timeseries } from '@pharos/contract/timeseries'
import { barsOf, bucketsOf, changeText, firstOfDays, rangeOfBar } from './by-day.ts'

const now = Date.parse('2026-03-30T10:15:00Z')

describe('the window of a chart of attacks', () => {
  it('begins at a midnight of the zone, also across a change of the clocks', () => {
    assert.equal(firstOfDays(1, now, 'UTC'), '2026-03-30T00:00:00.000Z')
    assert.equal(firstOfDays(1, now, 'Europe/Amsterdam'), '2026-03-29T22:00:00.000Z')
    assert.equal(firstOfDays(7, now, 'Europe/Amsterdam'), '2026-03-23T23:00:00.000Z')
  })

  it('has bars of a length that fits it, by default days', () => {
    const lengthOf = (start?: string, end?: string) =>
      bucketsOf({ ...(start ? { start } : {}), ...(end ? { end } : {}) }, now, 'UTC').interval
    assert.equal(lengthOf(), 86_400)
    assert.equal(lengthOf('2026-03-30T09:15:00Z'), 60)
    assert.equal(lengthOf('2026-03-29T10:15:00Z'), 3600)
    assert.equal(lengthOf('2026-01-01T00:00:00Z'), 86_400)
    assert.equal(lengthOf('2025-01-01T00:00:00Z'), 7 * 86_400)
    assert.equal(lengthOf('2020-01-01T00:00:00Z'), 30 * 86_400)
    assert.equal(lengthOf(undefined, '2026-01-01T00:00:00Z'), 7 * 86_400)
  })
})

describe('the bars of attacks', () => {
  const series = (band: string, ...values: (number | null)[]) =>
    ({ key: { peak_bps: band }, label: band, unit: 'events', values }) as unknown as Series
  const answer: Timeseries = {
    start: '2026-03-28T00:00:00Z',
    end: '2026-03-31T00:00:00Z',
    interval: 86_400,
    timestamps: ['2026-03-28T00:00:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
    series: [series('from_10g', 0, 2, null), series('below_1g', 1, 0, 3), series('from_100g', 0, 0, null)],
  }

  it('are one series for each band with attacks, the smallest first', () => {
    const { series, total, times } = barsOf(answer)
    assert.deepEqual(
      series.map(({ label, values }) => [label, values]),
      [
        ['Below 1 Gbps', [1, null, 3]],
        ['10 to 100 Gbps', [null, 2, null]],
      ],
    )
    assert.equal(total, 6)
    assert.equal(times.length, 3)
  })

  it('open their own period, the last one up to its end', () => {
    assert.deepEqual(rangeOfBar(answer, 0), { from: '2026-03-28T00:00Z', to: '2026-03-29T00:00Z' })
    assert.deepEqual(rangeOfBar(answer, 2), { from: '2026-03-30T00:00Z', to: '2026-03-31T00:00Z' })
  })
})

it('a count is compared with the one before', () => {
  assert.equal(changeText(100, 112), '12 % more than in the 30 days before')
  assert.equal(changeText(4, 1), '75 % fewer than in the 30 days before')
  assert.equal(changeText(3, 3), 'as many as in the 30 days before')
  assert.equal(changeText(0, 5), 'none in the 30 days before')
})
