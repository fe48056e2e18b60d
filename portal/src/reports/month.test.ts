// Months of the report.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { monthAt, monthText, spanOfMonth } from './month.ts'

describe('a month of the report', () => {
  it('begins and ends at midnight of the time zone, over a change of the clocks', () => {
    assert.deepEqual(spanOfMonth('2026-03', 'Europe/Amsterdam'), {
      month: '2026-03',
      start: '2026-02-28T23:00:00.000Z',
      end: '2026-03-31T22:00:00.000Z',
    })
    assert.deepEqual(spanOfMonth('2026-12', 'UTC')?.end, '2027-01-01T00:00:00.000Z')
  })

  it('is counted from the month of the time zone', () => {
    const newYear = Date.parse('2026-12-31T23:30:00Z')
    assert.equal(monthAt(0, newYear, 'UTC'), '2026-12')
    assert.equal(monthAt(0, newYear, 'Asia/Tokyo'), '2027-01')
    assert.equal(monthAt(-1, newYear, 'Asia/Tokyo'), '2026-12')
    assert.equal(monthText('2026-03'), 'March 2026')
  })

  it('that does not exist has no times', () => {
    for (const text of ['2026-13', '2026-3', 'last', '']) assert.equal(spanOfMonth(text, 'UTC'), undefined)
  })
})
