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

  it('is left as it is, and cannot be read, outside of the years that the portal shows', () => {
    for (const zone of ['America/New_York', 'UTC', 'Asia/Tokyo'])
      for (const text of ['0099-01-01', '275760', '9999-12-31T23:59Z', '0026-11-01 12:00', '0000-01-01']) {
        assert.equal(limitText(text, zone), text)
        assert.equal(timeRangeText({ from: text }, zone), `${text} to now`)
        assert.equal(parseLimit(text, zone), null)
      }
    assert.equal(parseLimit('now-99999w', 'UTC'), null)
  })
})
