// Percentiles: the rank for the lengths of months, missing samples, directions, and the bucket that it names.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type BucketRate, billingGridMs } from './bucket.ts'
import { percentileOf, rankOf } from './percentile.ts'

const ratesOf = (values: readonly (readonly [number, number])[]): BucketRate[] =>
  values.map(([inBps, outBps], index) => ({ startMs: index * billingGridMs, inBps, outBps }))
const inbound = (values: readonly number[]) => percentileOf(ratesOf(values.map((bps) => [bps, 0])), 'in', 95)
const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1)
/** Steps of a number without a common factor visit every value once. */
const shuffled = (n: number) => upTo(n).map((value) => ((value * 1_009) % n) + 1)

describe('the 95th percentile', () => {
  it('has the nearest rank for months of every length and for few samples', () => {
    const ranks = [
      [8_064, 7_661],
      [8_352, 7_935],
      [8_640, 8_208],
      [8_928, 8_482],
      [8_916, 8_471],
      [8_940, 8_493],
      [8_652, 8_220],
      [8_646, 8_214],
      [8_922, 8_476],
      [8_076, 7_673],
      [1, 1],
      [2, 2],
      [19, 19],
      [20, 19],
      [21, 20],
      [100, 95],
      [2_016, 1_916],
    ] as const
    for (const [n, rank] of ranks) {
      assert.equal(rankOf(95, n), rank)
      assert.deepEqual([inbound(shuffled(n))?.bps, inbound(shuffled(n))?.rank], [rank, rank])
    }
  })

  it('leaves missing samples out', () => {
    assert.equal(inbound(upTo(100).slice(20))?.bps, 96)
    assert.equal(inbound(upTo(80))?.bps, 76)
    assert.equal(inbound([]), undefined)
  })

  it('is exceeded by at most 5 % of the samples, and is the smallest such sample', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { minLength: 1, maxLength: 200 }), (values) => {
        const { bps, startMs } = inbound(values)!
        const above = (limit: number) => values.filter((value) => value > limit).length
        assert.ok(20 * above(bps) <= values.length)
        assert.ok(values.every((value) => value >= bps || 20 * above(value) > values.length))
        assert.equal(values[startMs / billingGridMs], bps)
      }),
    )
  })

  it('of both directions is the greater one, or that of the sums per bucket', () => {
    const rates = ratesOf(upTo(20).map((value) => [value, 40 - value]))
    const bps = (['in', 'out', 'max', 'sum'] as const).map(
      (direction) => percentileOf(rates, direction, 95)?.bps,
    )
    assert.deepEqual(bps, [19, 38, 38, 40])
  })
})
