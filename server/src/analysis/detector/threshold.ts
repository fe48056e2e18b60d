// The thresholds of the detector, from the platform file, and which of them applies to a destination. Pure.
import { prefixBits, type Prefix } from '../../net/prefix.ts'
import { maskBits, sameBits, type Bits } from '../../net/bits.ts'

/** Rates from which traffic to one destination is an attack. Undefined: not a criterion. */
export type Threshold = {
  /** Only for destinations in the prefix; undefined for all. */
  readonly prefix?: Prefix
  /** Only for destinations of the team; undefined for all. */
  readonly teamId?: number
  readonly bps?: number
  readonly pps?: number
  /** Multiple of the baseline of the holder's prefix below which nothing is an attack. */
  readonly ratio?: number
  /** For a /24 or /64 as a whole, whose hosts are below their own thresholds; default four times the host's. */
  readonly networkBps?: number
  readonly networkPps?: number
}

/** Usual traffic: the 99th percentile of the same hour of the week, in total for the prefix. */
export type Baseline = { readonly bps: number; readonly pps: number }

export type Limits = { readonly bps: number; readonly pps: number }

/** A destination's most specific holder. */
export type Holder = { readonly teamId: number; readonly prefixId: number }

const networkFactor = 4

type Compiled = Threshold & { readonly bits: Bits | undefined }

/** Returns the function that finds the limits of a destination; the most specific prefix wins, then the team, then the general one. */
export function createLimits(
  thresholds: readonly Threshold[],
  baselines: ReadonlyMap<number, Baseline>,
): (destination: Bits, holder: Holder, isNetwork: boolean) => Limits | undefined {
  const compiled: Compiled[] = thresholds
    .map((threshold) => ({
      ...threshold,
      bits: threshold.prefix === undefined ? undefined : prefixBits(threshold.prefix),
    }))
    .sort((a, b) => rank(b) - rank(a))
  return (destination, { teamId, prefixId }, isNetwork) => {
    const found = compiled.find(
      ({ bits, teamId: only }) =>
        (bits === undefined || isWithin(destination, bits)) && (only === undefined || only === teamId),
    )
    if (!found) return undefined
    const { bps = Infinity, pps = Infinity, ratio, networkBps, networkPps } = found
    const own = isNetwork
      ? { bps: networkBps ?? bps * networkFactor, pps: networkPps ?? pps * networkFactor }
      : { bps, pps }
    const baseline = baselines.get(prefixId)
    if (ratio === undefined || !baseline) return own
    return { bps: Math.max(own.bps, ratio * baseline.bps), pps: Math.max(own.pps, ratio * baseline.pps) }
  }
}

const rank = ({ bits, teamId }: Compiled): number =>
  (bits ? 1000 + bits.length : 0) + (teamId === undefined ? 0 : 1)

function isWithin(destination: Bits, bits: Bits): boolean {
  return (
    destination.family === bits.family &&
    destination.length >= bits.length &&
    sameBits(maskBits({ ...destination, length: bits.length }), bits, bits.length)
  )
}

/** The lowest of all limits: below a part of it nothing is looked at. */
export function lowestOf(thresholds: readonly Threshold[]): Limits {
  const least = (values: readonly (number | undefined)[]) =>
    Math.min(Infinity, ...values.filter((value) => value !== undefined))
  return {
    bps: least(thresholds.flatMap(({ bps, networkBps }) => [bps, networkBps])),
    pps: least(thresholds.flatMap(({ pps, networkPps }) => [pps, networkPps])),
  }
}
