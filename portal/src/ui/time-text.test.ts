import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ago,
  daysUntil,
  formatDuration,
  isZone,
  shortName,
  since,
  splitAtTimes,
  timeIn,
} from './time-text.ts'

const noon = '2026-03-01T12:00:05.000Z'

describe('times as text', () => {
  it('are in the local time of the zone', () => {
    assert.equal(timeIn(noon, 'UTC'), '1 Mar 2026, 12:00:05')
    assert.equal(timeIn(noon, 'Asia/Tokyo'), '1 Mar 2026, 21:00:05')
  })

  it('have the name of the zone at that time', () => {
    assert.equal(shortName('UTC', noon), 'UTC')
    assert.equal(shortName('Europe/London', noon), 'GMT')
    assert.notEqual(shortName('Europe/London', '2026-07-01T12:00:00Z'), 'GMT')
  })

  it('have happened, also by a clock that is behind or a page that has not been drawn for a while', () => {
    assert.equal(since(noon, Date.parse('2026-03-01T12:02:10Z')), '2 minutes ago')
    assert.equal(since(noon, Date.parse(noon) - 31_000), 'now')
  })

  it('distinguish zones from other texts', () => {
    assert.ok(isZone('Europe/Amsterdam'))
    assert.ok(!isZone('Europe/Atlantis'))
  })

  it('are found in a sentence, whose other parts are kept', () => {
    const text = `It waits until ${noon} at the earliest.`
    assert.deepEqual(splitAtTimes(text), ['It waits until ', noon, ' at the earliest.'])
    assert.deepEqual(splitAtTimes('Nothing here.'), ['Nothing here.'])
  })
})

describe('durations as text', () => {
  const now = new Date(noon).getTime()
  const after = (ms: number) => new Date(now + ms).toISOString()

  it('counts started days, and 0 after the end', () => {
    const day = 86_400_000
    assert.deepEqual(
      [-day, 0, 1, day, day + 1].map((ms) => daysUntil(after(ms), now)),
      [0, 0, 1, 1, 2],
    )
  })

  it('uses the largest complete unit', () => {
    assert.equal(ago(after(-90_000), now), '1 minute ago')
    assert.equal(ago(after(7_200_000), now), 'in 2 hours')
  })

  it('has a precision that fits its length', () => {
    const texts = [320, 1_047, 9_999, 48_000, 60_000, 90_000, 4_320_000, 200_000_000].map(formatDuration)
    assert.deepEqual(texts, [
      '320 ms',
      '1.05 s',
      '10 s',
      '48 s',
      '1 min',
      '1 min 30 s',
      '1 h 12 min',
      '2 d 7 h',
    ])
  })
})
