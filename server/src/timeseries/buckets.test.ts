// The buckets of a time series: days of a time zone, hours that are not UTC hours, and the figures of a series.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { bordersOf, seriesFiguresOf, intervalFor } from './buckets.ts'

const day = 86_400
const borders = (start: string, end: string, interval: number, timezone = 'UTC', max = 2_000) =>
  bordersOf({ start: new Date(start), end: new Date(end), interval, timezone }, max)?.map((at) =>
    at.toISOString(),
  )

describe('buckets', () => {
  it('of days begin at midnight of the time zone, also where clocks change', () => {
    assert.deepEqual(borders('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z', day, 'Europe/Amsterdam'), [
      '2026-03-27T23:00:00.000Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
      '2026-03-30T22:00:00.000Z',
    ])
  })

  it('begin at the hours of a time zone off the hour', () => {
    assert.deepEqual(borders('2026-01-01T00:20:00Z', '2026-01-01T01:30:00Z', 3_600, 'Asia/Kathmandu'), [
      '2026-01-01T00:15:00.000Z',
      '2026-01-01T01:15:00.000Z',
      '2026-01-01T02:15:00.000Z',
    ])
  })

  it('of a day without midnight begin at its first hour', () => {
    assert.deepEqual(
      borders('2026-09-05T12:00:00Z', '2026-09-06T12:00:00Z', day, 'America/Santiago')?.slice(0, 2),
      ['2026-09-05T04:00:00.000Z', '2026-09-06T04:00:00.000Z'],
    )
  })

  it('are at least one, and not more than allowed', () => {
    assert.equal(borders('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 60)?.length, 2)
    assert.equal(borders('2026-01-01T00:00:00Z', '2026-12-01T00:00:00Z', 60), undefined)
  })

  it('stay within the years of four digits', () => {
    assert.deepEqual(
      borders('0001-01-01T12:00:00Z', '0001-01-01T13:00:00Z', day, 'Asia/Tokyo')?.[0],
      '0001-01-01T00:00:00.000Z',
    )
    assert.deepEqual(borders('9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z', 1), [
      '9999-12-31T23:59:59.000Z',
      '9999-12-31T23:59:59.999Z',
    ])
  })

  it('have no bucket for a day that the time zone has left out', () => {
    assert.deepEqual(borders('2011-12-29T12:00:00Z', '2011-12-31T00:00:00Z', day, 'Pacific/Apia'), [
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ])
  })

  it('cover the window, one after the other', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        fc.integer({ min: 0, max: 400 * day }),
        fc.integer({ min: 5, max: 2_000 }),
        fc.constantFrom('UTC', 'Europe/Amsterdam', 'Asia/Kathmandu', 'America/Santiago', 'Pacific/Apia'),
        (start, seconds, points, timezone) => {
          const end = new Date(start.getTime() + seconds * 1000)
          const found = bordersOf({ start, end, interval: intervalFor(start, end, points), timezone }, 2_100)!
          assert.ok(found[0]! <= start && found.at(-1)! >= end)
          assert.ok(found.every((at, index) => index === 0 || at > found[index - 1]!))
          assert.ok(found.length - 1 <= points + 2)
        },
      ),
    )
  })
})

describe('figures', () => {
  it('leave out what is not known', () => {
    assert.deepEqual(seriesFiguresOf([null, 4, 1, null]), { min: 1, max: 4, avg: 2.5, last: 1, p95: 4 })
    assert.deepEqual(seriesFiguresOf([null]), { min: null, max: null, avg: null, last: null, p95: null })
  })

  it('take the 95th percentile by nearest rank', () => {
    assert.equal(seriesFiguresOf(Array.from({ length: 100 }, (_, at) => at + 1)).p95, 95)
  })
})
