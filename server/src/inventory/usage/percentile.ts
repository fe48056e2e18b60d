// A percentile of a period by nearest rank, in integers, with its bucket. Missing buckets are excluded, not ranked as
// zero. It must not average: the samples are the buckets of 5 minutes themselves.
import type { RankedColumn } from '@pharos/contract/inventory/bill'
import type { BillingDirection } from '@pharos/contract/inventory/billing-rules'
import { selectSmallest } from '../../timeseries/select.ts'
import type { BucketRate } from './bucket.ts'

export type Percentile = {
  readonly bps: number
  /** Position among the samples in ascending order, from 1. */
  readonly rank: number
  readonly samples: number
  /** The bucket with this rank; equal rates are ordered by time. */
  readonly startMs: number
  /** The rates that were ranked. */
  readonly column: RankedColumn
}

/** Returns the nearest rank of a percentile, ceil(percent / 100 x n) without floating point: 1 for one sample, 8208 for the 95th of 8640. */
export function rankOf(percent: number, samples: number): number {
  return Math.floor((percent * samples + 99) / 100)
}

/** Returns the percentile, a whole number from 1 to 100; undefined without samples. */
export function percentileOf(
  rates: readonly BucketRate[],
  direction: BillingDirection,
  percent: number,
): Percentile | undefined {
  if (direction !== 'max') return ranked(rates, direction === 'max_sample' ? 'max' : direction, percent)
  const [inbound, outbound] = [ranked(rates, 'in', percent), ranked(rates, 'out', percent)]
  return inbound && outbound && outbound.bps > inbound.bps ? outbound : inbound
}

/** The rate of a bucket by column. */
export const bpsIn: Readonly<Record<RankedColumn, (rate: BucketRate) => number>> = {
  in: ({ inBps }) => inBps,
  out: ({ outBps }) => outBps,
  max: ({ inBps, outBps }) => Math.max(inBps, outBps),
  sum: ({ inBps, outBps }) => inBps + outBps,
}

function ranked(rates: readonly BucketRate[], column: RankedColumn, percent: number): Percentile | undefined {
  if (rates.length === 0) return undefined
  const values = Float64Array.from(rates, bpsIn[column])
  const rank = rankOf(percent, values.length)
  const bps = selectSmallest(values.slice(), rank - 1)
  const equal = rates.filter((_, index) => values[index] === bps).map(({ startMs }) => startMs)
  const below = values.reduce((count, value) => (value < bps ? count + 1 : count), 0)
  const startMs = equal.toSorted((a, b) => a - b)[rank - 1 - below]!
  return { bps, startMs, rank, samples: values.length, column }
}
