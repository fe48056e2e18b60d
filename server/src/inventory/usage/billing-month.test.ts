// Billing months: lengths over changes of clocks, no gap between months, and the part in which a port was assigned.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assignedPart, billingMonth, bucketCount, isClosable, monthOf } from './billing-month.ts'
import { billingGridMs } from './bucket.ts'

describe('a billing month', () => {
  const lengths = [
    ['Europe/Amsterdam', '2026-03', 8_916],
    ['Europe/Amsterdam', '2026-10', 8_940],
    ['America/New_York', '2026-11', 8_652],
    ['Australia/Lord_Howe', '2026-04', 8_646],
    ['Australia/Lord_Howe', '2026-10', 8_922],
    ['Africa/Casablanca', '2026-02', 8_076],
    ['Asia/Kathmandu', '2026-05', 8_928],
    ['UTC', '2028-02', 8_352],
  ] as const
  for (const [zone, month, buckets] of lengths) {
    it(`${month} in ${zone} has ${buckets} buckets`, () => {
      assert.equal(bucketCount(billingMonth(month, zone)), buckets)
    })
  }

  it('begins where the one before ends, on the grid, in every zone', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (const month of ['2025-12', '2026-02', '2026-03', '2026-09', '2026-10']) {
        const period = billingMonth(month, zone)
        assert.equal(period.startMs % billingGridMs, 0)
        assert.equal(monthOf(period.startMs, zone), month)
        assert.equal(monthOf(period.endMs - 1, zone), month)
        assert.equal(billingMonth(monthOf(period.endMs, zone), zone).startMs, period.endMs)
      }
    }
  })

  it('does not exist for a text that is not a month', () => {
    for (const text of ['2026-13', '2026', '2026-02-01x', '']) {
      assert.throws(() => billingMonth(text, 'UTC'), RangeError)
    }
    assert.throws(() => billingMonth('2026-01', 'Nowhere/Else'), RangeError)
  })

  it('can be closed a day after its end', () => {
    const month = billingMonth('2026-01', 'UTC')
    assert.ok(!isClosable(month, Date.UTC(2026, 1, 2) - 1))
    assert.ok(isClosable(month, Date.UTC(2026, 1, 2)))
  })
})

describe('the assigned part of a month', () => {
  const month = billingMonth('2026-01', 'UTC')
  const at = (day: number, minute = 0) => Date.UTC(2026, 0, day, 0, minute)

  it('has no bucket of the assignment before or after', () => {
    const before = assignedPart(month, { startMs: at(1) - 1, endMs: at(10, 7) })
    const after = assignedPart(month, { startMs: at(10, 7), endMs: null })
    assert.deepEqual(before, { startMs: at(1), endMs: at(10, 5) })
    assert.deepEqual(after, { startMs: at(10, 10), endMs: month.endMs })
  })

  it('does not exist for an assignment of another month, or one within a bucket', () => {
    assert.equal(assignedPart(month, { startMs: at(32), endMs: null }), undefined)
    assert.equal(assignedPart(month, { startMs: at(3, 1), endMs: at(3, 4) }), undefined)
  })
})
