// A time range as a person reads and types it.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { limitText, parseLimit, timeRangeText } from './time-range-text.ts'

describe('the text of a time range', () => {
  it('names quick ranges, and shows limits in the time zone', () => {
    assert.equal(timeRangeText({ range: '30d' }, 'UTC'), 'Last 30 days')
    assert.equal(timeRangeText({ range: '3h' }, 'UTC'), 'Last 3 hours')
    assert.equal(timeRangeText({}, 'UTC'), 'Any time')
    assert.equal(timeRangeText({ from: '2026-01-10T03:00Z' }, 'Asia/Tokyo'), '2026-01-10 12:00 to now')
  })

  it('is read in the time zone, or relative to now', () => {
    assert.equal(parseLimit('2026-01-10 12:00', 'Asia/Tokyo'), '2026-01-10T03:00Z')
    assert.equal(parseLimit('2026-01-10', 'UTC'), '2026-01-10T00:00Z')
    assert.equal(parseLimit('now-2d', 'UTC'), 'now-2d')
    assert.equal(parseLimit('', 'UTC'), undefined)
    assert.equal(parseLimit('soon', 'UTC'), null)
    assert.equal(limitText('now-2d', 'UTC'), 'now-2d')
  })
})
