import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { isTimezone, parseTime } from './time.ts'
import { scaled } from '../runtime/testing-scale.ts'

const runs = scaled(100_000)

describe('a time', () => {
  const read: Record<string, string> = {
    '2026-01-31T12:00:00Z': '2026-01-31T12:00:00.000Z',
    '2026-01-31T12:00:00': '2026-01-31T12:00:00.000Z',
    '2026-01-31': '2026-01-31T00:00:00.000Z',
    '2026-01-31t12:00z': '2026-01-31T12:00:00.000Z',
    '2026-01-31T12:00:00.123456789+02:00': '2026-01-31T10:00:00.123Z',
    '2026-01-31T12:00:00-0130': '2026-01-31T13:30:00.000Z',
    '2024-02-29': '2024-02-29T00:00:00.000Z',
  }
  for (const [text, time] of Object.entries(read)) {
    it(`may have the form ${text}`, () => assert.equal(parseTime(text)?.toISOString(), time))
  }

  for (const text of [
    '',
    '1',
    'May',
    'now',
    '2026',
    '2026-13-01',
    '2026-02-31',
    '2025-02-29',
    '2026-01-31T25:00:00Z',
    '2026-01-31T12:00:00+99:00',
    '0000-01-01',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-01-31T12:00:00Z ',
    '٢٠٢٦-01-01',
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(parseTime(text), undefined))
  }

  it('is equal after formatting and parsing', () => {
    const moments = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(moments, (time) => assert.deepEqual(parseTime(time.toISOString()), time)),
      { numRuns: scaled(10_000) },
    )
  })

  it('is parsed or undefined for any text, without an error', () => {
    const near = fc.stringMatching(/^[0-9TtZz:+. -]{0,30}$/)
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: codePoint })), (text) => {
        const time = parseTime(text)
        assert.ok(time === undefined || !Number.isNaN(time.getTime()))
      }),
      { numRuns: runs },
    )
  })
})

describe('a time zone', () => {
  it('is a name with daylight saving time, not an offset', () => {
    assert.equal(isTimezone('Europe/Amsterdam'), true)
    assert.equal(isTimezone('UTC'), true)
    for (const name of ['+02:00', 'Europe/Atlantis', '', '../etc']) assert.equal(isTimezone(name), false)
  })
})
