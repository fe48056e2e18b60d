// The 95th percentile of a period by nearest rank, in integers, with the bucket that it is. Missing buckets are left out, not
// ranked as zero. It must not average: the samples are the buckets of 5 minutes themselves.
import type { BucketRate } from './bucket.ts'

/** `max`: the greater of the two percentiles. `sum`: the percentile of in and out added per bucket. */
export type BilledDirection = 'in' | 'out' | 'max' | 'sum'

export type Percentile = {
  readonly bps: number
  /** Position among the samples in ascending order, from 1. */
  readonly rank: number
  readonly samples: number
  /** The bucket with this rank; of equal ones the order is that of time. */
  readonly startMs: number
}

/** Returns the nearest rank of the 95th percentile, ceil(0.95 n) without floating point: 1 for one sample, 8208 for 8640. */
export function rank95(samples: number): number {
  return Math.floor((95 * samples + 99) / 100)
}

/** Returns the 95th percentile; undefined without samples. */
export function percentile95(
  rates: readonly BucketRate[],
  direction: BilledDirection,
): Percentile | undefined {
  if (direction !== 'max') return rankedAt95(rates, bpsIn[direction])
  const [inbound, outbound] = [rankedAt95(rates, bpsIn.in), rankedAt95(rates, bpsIn.out)]
  return inbound && outbound && outbound.bps > inbound.bps ? outbound : inbound
}

const bpsIn = {
  in: (rate: BucketRate) => rate.inBps,
  out: (rate: BucketRate) => rate.outBps,
  sum: (rate: BucketRate) => rate.inBps + rate.outBps,
} as const

function rankedAt95(
  rates: readonly BucketRate[],
  bpsOf: (rate: BucketRate) => number,
): Percentile | undefined {
  if (rates.length === 0) return undefined
  const sorted = rates
    .map((rate) => ({ bps: bpsOf(rate), startMs: rate.startMs }))
    .sort((a, b) => a.bps - b.bps || a.startMs - b.startMs)
  const rank = rank95(sorted.length)
  return { ...sorted[rank - 1]!, rank, samples: sorted.length }
}
