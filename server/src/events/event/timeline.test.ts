import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { eventSignals, timelineMax } from '@pharos/contract/events/event'
import type { EventSignal, TimelineSample } from '@pharos/contract/events/event'
import { mergeTimelines } from './timeline.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(500)
/** Small, so that nearly every merge truncates. */
const limit = 4

const sample = fc.record(
  {
    at: fc
      .integer({ min: 0, max: 20 })
      .map((minute) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString()),
    signals: fc.subarray([...eventSignals]),
    bps: fc.integer({ min: 0, max: 3 }),
    pps: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ['at', 'signals'], noNullPrototype: true },
) satisfies fc.Arbitrary<TimelineSample>
const samples = fc.array(sample, { maxLength: 40, size: 'max' })

const merge = (a: readonly TimelineSample[], b: readonly TimelineSample[]) => mergeTimelines(a, b, limit)
const oneByOne = (list: readonly TimelineSample[]) =>
  list.reduce<TimelineSample[]>((timeline, next) => merge(timeline, [next]), [])

describe('merging timelines', () => {
  test('gives the same in any order, any grouping, and for any number of repeats, although each step truncates', () => {
    const shuffled = samples.chain((list) =>
      fc.record({
        list: fc.constant(list),
        other: fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
        again: fc.subarray(list),
        at: fc.nat(list.length),
      }),
    )
    fc.assert(
      fc.property(shuffled, ({ list, other, again, at }) => {
        const expected = merge([], list)
        assert.deepEqual(oneByOne(other), expected)
        assert.deepEqual(oneByOne([...again, ...other, ...again]), expected)
        assert.deepEqual(merge(oneByOne(other.slice(at)), oneByOne(other.slice(0, at))), expected)
        assert.deepEqual(merge(expected, expected), expected)
      }),
      { numRuns: runs },
    )
  })

  test('keeps a bounded number by time, including the first of each signal and the highest rates', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const kept = merge([], list)
        assert.ok(kept.length <= limit + eventSignals.length + 2)
        const times = kept.map(({ at }) => at)
        assert.deepEqual(times, times.toSorted())
        const firstOf = (from: readonly TimelineSample[], signal: EventSignal) =>
          from
            .filter(({ signals }) => signals.includes(signal))
            .map(({ at }) => at)
            .toSorted()[0]
        for (const signal of eventSignals) assert.equal(firstOf(kept, signal), firstOf(list, signal))
        for (const rate of ['bps', 'pps'] as const) {
          const highest = (from: readonly TimelineSample[]) =>
            Math.max(-1, ...from.map((one) => one[rate] ?? -1))
          assert.equal(highest(kept), highest(list))
        }
      }),
      { numRuns: runs },
    )
  })

  test('drops ongoing samples before starts, and starts before ends', () => {
    const samplesOf = (count: number, signal: EventSignal, hour: number) =>
      Array.from({ length: count }, (_, minute): TimelineSample => ({
        at: new Date(Date.UTC(2026, 0, 1, hour, minute)).toISOString(),
        signals: [signal],
      }))
    const ends = samplesOf(40, 'mitigation_ended', 3)
    const begins = samplesOf(40, 'pending', 1)
    const kept = mergeTimelines(samplesOf(60, 'ongoing', 5), [
      ...begins,
      ...ends,
      ...samplesOf(60, 'ongoing', 8),
    ])
    assert.ok(kept.length <= timelineMax)
    for (const one of [...ends, ...begins]) assert.ok(kept.some(({ at }) => at === one.at))
  })

  test('keeps samples from every period of time', () => {
    const day = Array.from({ length: 1_440 }, (_, minute): TimelineSample => ({
      at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
      signals: ['ongoing'],
      bps: 1,
    }))
    const kept = mergeTimelines([], day)
    const quarters = Map.groupBy(kept, ({ at }) => Math.floor(new Date(at).getUTCHours() / 6))
    assert.equal(quarters.size, 4)
    for (const [quarter, list] of quarters) assert.ok(list.length >= 10, `quarter ${quarter}: ${list.length}`)
  })
})
