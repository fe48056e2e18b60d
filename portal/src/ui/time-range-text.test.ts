// A time range as a person reads and types it.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endOfDay, lastDayOf, limitText, parseLimit, timeRangeText } from './time-range-text.ts'

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

  it('ends at the midnight after the last day, which is shown as that day', () => {
    assert.equal(endOfDay('2026-02-28'), '2026-03-01 00:00')
    assert.equal(lastDayOf(endOfDay('2026-02-28')), '2026-02-28')
    assert.equal(lastDayOf('2026-03-01 00:01'), '2026-03-01')
    assert.equal(lastDayOf('now-1h'), null)
    assert.equal(lastDayOf(''), null)
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
