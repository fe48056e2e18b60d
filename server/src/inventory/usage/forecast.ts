// The expected percentile of an open billing month: the samples so far, and for each coming bucket the samples at the
// same time in the previous four weeks. It must not extrapolate growth, which predicts worse.
import type { Period } from './billing-month.ts'
import { type BucketRate, billingGridMs } from './bucket.ts'

const weekMs = 7 * 86_400_000
const weeks = 4
/** Weight of one bucket: divisible by every number of weeks. */
const unit = 12

type Weighted = { readonly bps: number; readonly weight: number }

/**
 * Returns the expected percentile in bit/s; undefined without samples. `rates` has the month so far and the four weeks before
 * `nowMs`; at the end of the month the result is the percentile itself. A coming bucket shares its weight among the weeks that have
 * a sample; without one it has no influence.
 */
export function forecastOf(
  rates: readonly BucketRate[],
  bpsOf: (rate: BucketRate) => number,
  percent: number,
  month: Period,
  nowMs: number,
): number | undefined {
  const known = new Map(
    rates.filter(({ startMs }) => startMs < nowMs).map((rate) => [rate.startMs, bpsOf(rate)]),
  )
  const seen = [...known]
    .filter(([startMs]) => startMs >= month.startMs && startMs < month.endMs)
    .map(([, bps]) => ({ bps, weight: unit }))
  return weightedOf([...seen, ...comingOf(known, month, nowMs)], percent)
}

function comingOf(known: ReadonlyMap<number, number>, month: Period, nowMs: number): Weighted[] {
  const coming: Weighted[] = []
  const first = Math.max(month.startMs, Math.ceil(nowMs / billingGridMs) * billingGridMs)
  for (let at = first; at < month.endMs; at += billingGridMs) {
    const latest = at - Math.ceil((at - nowMs + 1) / weekMs) * weekMs
    const slots = Array.from({ length: weeks }, (_, week) => known.get(latest - week * weekMs))
    const found = slots.filter((bps) => bps !== undefined)
    coming.push(...found.map((bps) => ({ bps, weight: unit / found.length })))
  }
  return coming
}

/** The smallest value that `percent` of the weight do not exceed. */
function weightedOf(values: readonly Weighted[], percent: number): number | undefined {
  const total = values.reduce((sum, { weight }) => sum + weight, 0)
  let below = 0
  for (const { bps, weight } of values.toSorted((a, b) => a.bps - b.bps)) {
    below += weight
    if (100 * below >= percent * total) return bps
  }
  return undefined
}
