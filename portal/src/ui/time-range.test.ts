// Time ranges of addresses.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rangeBetween, readRange, shiftedBy, spanOf, withRecent, type TimeRange } from './time-range.ts'

const now = Date.parse('2026-03-15T12:30:40Z')

describe('a time range', () => {
  it('up to now begins that long ago, in whole minutes, and has no end', () => {
    assert.deepEqual(spanOf({ range: '24h' }, now, 'UTC'), { start: '2026-03-14T12:30:00.000Z' })
    assert.deepEqual(spanOf({ range: '30d' }, now, 'UTC'), { start: '2026-02-13T12:30:00.000Z' })
    assert.deepEqual(spanOf({}, now, 'UTC'), {})
  })

  it('of a calendar month is that of the time zone', () => {
    assert.deepEqual(spanOf({ range: 'this-month' }, now, 'Asia/Tokyo'), {
      start: '2026-02-28T15:00:00.000Z',
    })
    assert.deepEqual(spanOf({ range: 'last-month' }, now, 'UTC'), {
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    })
  })

  it('between two times may be relative to now', () => {
    assert.deepEqual(spanOf({ from: 'now-2d', to: 'now-1d' }, now, 'UTC'), {
      start: '2026-03-13T12:30:00.000Z',
      end: '2026-03-14T12:30:00.000Z',
    })
    assert.deepEqual(spanOf({ from: '2026-01-10T03:00Z', to: 'now' }, now, 'UTC'), {
      start: '2026-01-10T03:00:00.000Z',
    })
  })

  it('that is not valid has no span', () => {
    for (const range of [
      { range: 'soon' },
      { from: 'yesterday' },
      { from: '2026-01-02T00:00Z', to: '2026-01-01T00:00Z' },
      { range: '99999w' },
      { from: 'now-99999w' },
      { from: '0099-01-01' },
      { from: '275760' },
      { from: '2026-01-01T00:00Z', to: '9999-12-31T23:59Z' },
    ])
      assert.equal(spanOf(range, now, 'UTC'), undefined)
  })

  it('between two times is at least a minute long, so that it stays valid', () => {
    const at = Date.parse('2026-03-15T12:30:50Z')
    for (const seconds of [0, 5, 59, 60, 61]) {
      const range = rangeBetween(at, at + seconds * 1000)
      assert.equal(range.from, '2026-03-15T12:30Z')
      assert.ok(spanOf(range, now, 'UTC'), `${seconds} s`)
    }
    assert.equal(rangeBetween(at, at + 3_600_000).to, '2026-03-15T13:30Z')
  })

  it('moves by its length, and not into the future', () => {
    assert.deepEqual(shiftedBy(-1, { range: '24h' }, now, 'UTC'), {
      from: '2026-03-13T12:30Z',
      to: '2026-03-14T12:30Z',
    })
    assert.equal(shiftedBy(1, { range: '24h' }, now, 'UTC'), undefined)
    assert.equal(shiftedBy(-1, {}, now, 'UTC'), undefined)
    assert.equal(shiftedBy(-1, { from: '1971-01-01T00:00Z' }, now, 'UTC'), undefined)
  })

  it('of a page has a start, and names what is not one', () => {
    const read = (address: object) => {
      const { range, span, ignored } = readRange({ ...address }, now, 'UTC')
      assert.ok(span.start !== undefined)
      return [range, ignored]
    }
    const limits = { from: '2026-03-01T00:00Z', to: '2026-03-02T00:00Z' }
    assert.deepEqual(read({}), [{ range: '24h' }, []])
    assert.deepEqual(read(limits), [limits, []])
    assert.deepEqual(read({ range: '30d', from: 'now-2d' }), [{ range: '30d' }, ['from']])
    assert.deepEqual(read({ range: '99999w' }), [{ range: '24h' }, ['range']])
    assert.deepEqual(read({ to: 'now-1d' }), [{ range: '24h' }, ['to']])
    assert.deepEqual(read({ from: '0099-01-01' }), [{ range: '24h' }, ['from']])
    assert.deepEqual(read({ ...limits, to: '9999-12-31T23:59Z' }), [{ range: '24h' }, ['from', 'to']])
  })
})

it('keeps the last five ranges, the newest first, each once', () => {
  const days = ['1', '2', '3', '4', '5', '6', '4'].map((day): TimeRange => ({
    from: `2026-03-0${day}T00:00Z`,
    to: 'now',
  }))
  const kept = days.reduce<readonly TimeRange[]>(withRecent, [])
  assert.deepEqual(
    kept.map(({ from }) => from?.slice(9, 10)),
    ['4', '6', '5', '3', '2'],
  )
})
