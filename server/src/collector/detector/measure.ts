// A rate with the variance that sampling gives it. Pure.

/** Standard deviations between the rate and L: the true rate is above L in 99.5 % of samplings. */
const deviations = 2.58

/** Bits and packets per second, with their variances. */
export type Measure = {
  readonly bps: number
  readonly pps: number
  readonly bpsVariance: number
  readonly ppsVariance: number
}

export const noMeasure: Measure = { bps: 0, pps: 0, bpsVariance: 0, ppsVariance: 0 }

export const add = (a: number, b: number): number => a + b

export const combine = (a: Measure, b: Measure, by: (a: number, b: number) => number): Measure => ({
  bps: by(a.bps, b.bps),
  pps: by(a.pps, b.pps),
  bpsVariance: by(a.bpsVariance, b.bpsVariance),
  ppsVariance: by(a.ppsVariance, b.ppsVariance),
})

/** Lower bounds of the true rates, with the error of sampling. */
export function lowerOf({ bps, pps, bpsVariance, ppsVariance }: Measure): {
  readonly bps: number
  readonly pps: number
} {
  return { bps: bps - deviations * Math.sqrt(bpsVariance), pps: pps - deviations * Math.sqrt(ppsVariance) }
}
