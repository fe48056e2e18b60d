import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventMessageTypes, type EventContext } from './event-message.ts'

const now = new Date('2026-03-01T12:00:00Z')
const hours = (count: number) => new Date(now.getTime() - count * 3_600_000)
const observed: EventContext = { now, isObserved: true, reportedEnds: [] }

/** A team's event that started and ended that many hours ago; undefined: it is ongoing. */
const event = (start: number, end?: number, affected_bps = 1) => ({
  start_at: hours(start),
  end_at: end === undefined ? null : hours(end),
  affected_bps,
  affected_pps: 1,
  flags: 1,
})

describe('a new event of a team', () => {
  it('is reported with its end, if it started within a day', () => {
    assert.deepEqual(eventMessageTypes(event(1), null, observed), ['event.started'])
    assert.deepEqual(eventMessageTypes(event(2, 1), null, observed), ['event.started', 'event.ended'])
    assert.deepEqual(eventMessageTypes(event(25), null, observed), [])
    assert.deepEqual(eventMessageTypes(event(25, 1), null, observed), [])
  })

  it('that is only rematched is reported while it is ongoing', () => {
    const matched = { ...observed, isObserved: false }
    assert.deepEqual(eventMessageTypes(event(1), null, matched), ['event.started'])
    assert.deepEqual(eventMessageTypes(event(2, 1), null, matched), [])
  })
})

describe('a changed event of a team', () => {
  it('is reported with its end once, unless that is a day ago', () => {
    assert.deepEqual(eventMessageTypes(event(48, 1), event(48), observed), ['event.ended'])
    assert.deepEqual(eventMessageTypes(event(48, 25), event(48), observed), [])
    const reported = { ...observed, reportedEnds: [hours(1).toISOString()] }
    assert.deepEqual(eventMessageTypes(event(48, 1), event(48), reported), [])
    assert.deepEqual(eventMessageTypes(event(48, 2), event(48), reported), ['event.ended'])
  })

  it('is reported when its end, peak or flags change', () => {
    assert.deepEqual(eventMessageTypes(event(5, 1), event(5, 2), observed), ['event.updated'])
    assert.deepEqual(eventMessageTypes(event(5, 1, 2), event(5, 1), observed), ['event.updated'])
    assert.deepEqual(eventMessageTypes(event(5, undefined, 2), event(5), observed), ['event.updated'])
    assert.deepEqual(eventMessageTypes({ ...event(5), flags: 3 }, event(5), observed), ['event.updated'])
    assert.deepEqual(eventMessageTypes(event(5), event(5), observed), [])
    assert.deepEqual(eventMessageTypes(event(200, undefined, 2), event(200), observed), [])
    assert.deepEqual(eventMessageTypes(event(60, 25, 2), event(60, 25), observed), [])
  })

  it('is not reported while a replay rebuilds it', () => {
    assert.deepEqual(eventMessageTypes(event(5), event(5, 1), observed), [])
    const reported = { ...observed, reportedEnds: [hours(1).toISOString()] }
    assert.deepEqual(eventMessageTypes(event(5, undefined, 2), event(5), reported), [])
  })
})
