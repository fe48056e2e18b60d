// Months of the report.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMonth, monthAt } from './month.ts'

describe('a month of the report', () => {
  it('is counted from the month of the time zone', () => {
    const newYear = Date.parse('2026-12-31T23:30:00Z')
    assert.equal(monthAt(0, newYear, 'UTC'), '2026-12')
    assert.equal(monthAt(0, newYear, 'Asia/Tokyo'), '2027-01')
    assert.equal(monthAt(-1, newYear, 'Asia/Tokyo'), '2026-12')
  })

  it('that does not exist is none', () => {
    assert.equal(isMonth('2026-03'), true)
    for (const text of ['2026-13', '2026-3', 'last', '']) assert.equal(isMonth(text), false, text)
  })
})
