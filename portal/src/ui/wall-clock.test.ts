import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { momentAt, momentOf, wallClock } from './wall-clock.ts'

describe('a local date and time in a zone', () => {
  it('is converted to the moment, in summer and in winter', () => {
    assert.equal(momentOf('2026-01-10T12:00', 'Europe/Amsterdam'), '2026-01-10T11:00:00.000Z')
    assert.equal(momentOf('2026-07-10T12:00', 'Europe/Amsterdam'), '2026-07-10T10:00:00.000Z')
    assert.equal(momentOf('2026-07-10T12:00', 'Asia/Kolkata'), '2026-07-10T06:30:00.000Z')
    assert.equal(momentOf('2026-07-10T12:00', 'UTC'), '2026-07-10T12:00:00.000Z')
    assert.equal(momentOf('2026-01-01T00:30', 'Pacific/Auckland'), '2025-12-31T11:30:00.000Z')
  })

  it('survives a round trip, for every half hour of a year with its clock changes', () => {
    for (const zone of ['America/New_York', 'Australia/Lord_Howe', 'Europe/Berlin', 'UTC']) {
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 1_800_000) {
        const shown = wallClock(new Date(at).toISOString(), zone)
        const moment = momentOf(shown, zone)!
        assert.equal(wallClock(moment, zone), shown)
        assert.ok(new Date(moment).getTime() <= at, 'of two the first')
      }
    }
  })

  it('is moved forward if the clock skips it', () => {
    assert.equal(momentOf('2026-03-29T02:30', 'Europe/Amsterdam'), '2026-03-29T01:30:00.000Z')
  })

  it('is undefined if it is incomplete', () => {
    for (const text of ['', '2026', '2026-01-10', '2026-13-10T12:00', 'now'])
      assert.equal(momentOf(text, 'UTC'), undefined)
  })

  it('is undefined outside of the years 1970 to 9998, and converted at their ends', () => {
    for (const zone of ['America/Adak', 'UTC', 'Pacific/Kiritimati']) {
      for (const text of ['0000-01-01T00:00', '0026-11-01T12:00', '1969-12-01T00:00', '9999-12-31T23:59'])
        assert.equal(momentOf(text, zone), undefined, `${text} ${zone}`)
      for (const ms of [0, Date.UTC(9998, 11, 31, 23, 59)]) {
        const moment = new Date(ms).toISOString()
        assert.equal(momentOf(wallClock(moment, zone), zone), moment)
      }
    }
    assert.equal(momentAt(-1), undefined)
    assert.equal(momentAt(Date.UTC(9999, 0, 1)), undefined)
    assert.equal(momentAt(Number.NaN), undefined)
  })
})
