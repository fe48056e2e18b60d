// The reports of the detector about an attack. Pure.
import { classifications, type Classification } from '@pharos/contract/events/classification'
import type { RateLimits } from './limits.ts'
import { lowerOf, type Measure } from './measure.ts'
import { directionOf, scope, type Direction } from './scopes.ts'
import { carpetOf, vectors, type Vector } from '../../flow/vector.ts'

/** One report about an attack; its JSON is the body of a delivery of kind `flows`. Rates are bits and packets per second. */
export type Detection = {
  readonly id: string
  readonly network: string
  readonly status: 'ongoing' | 'ended'
  readonly direction: Direction
  readonly classification: Classification
  readonly start: string
  readonly end?: string
  readonly observed: string
  readonly description: string
  /** The mean since the last report, mostly 10 s. Octets at the IP layer. */
  readonly bps: number
  readonly pps: number
  /** The true rate was higher, in 99.5 of 100 samplings: equal to the rate if every packet was counted. */
  readonly lower_bps: number
  readonly lower_pps: number
  /** Number of sampled packets that the rate is made of, as its variance shows; undefined if every packet was counted. */
  readonly samples?: number
  /** The highest of the means. */
  readonly peak_bps: number
  readonly peak_pps: number
  /** The highest of the lower bounds. */
  readonly peak_lower_bps: number
  readonly peak_lower_pps: number
  /** The part of the peak that is of the leading kind of traffic, 0 to 1, of octets or packets, whichever exceed their limit by more. */
  readonly share: number
  readonly threshold_bps?: number
  readonly threshold_pps?: number
  readonly total_bytes: number
  readonly total_packets: number
  readonly protocols: readonly string[]
  /** Kinds of traffic, the strongest first, with their highest rates. */
  readonly vectors: readonly { readonly classification: Vector; readonly bps: number; readonly pps: number }[]
  /** The attacked hosts and networks of a carpet, which have no separate reports. */
  readonly networks?: readonly string[]
}

/** Limit of networks of a carpet in one report. */
const networksMax = 1_000

/** Kinds of traffic, the strongest first, with their highest rates. */
export type Strongest = readonly (readonly [vector: number, peak: RateLimits])[]

type Reported = {
  readonly attack: {
    readonly id: string
    readonly network: string
    readonly kind: number
    readonly start: number
    readonly limits: RateLimits
    readonly members: ReadonlyMap<string, { readonly network: string }>
  }
  readonly measure: Measure
  readonly peak: RateLimits
  readonly peakLower: RateLimits
  readonly strongest: Strongest
  readonly totals: { readonly octets: number; readonly packets: number }
  readonly second: number
  readonly end: number | undefined
}

export function detectionOf({
  attack,
  measure,
  peak,
  peakLower,
  strongest,
  totals,
  second,
  end,
}: Reported): Detection {
  const named = strongest.map(([vector, { bps, pps }]) => ({
    classification: vectors[vector]!,
    bps: rateOf(bps),
    pps: rateOf(pps),
  }))
  const first = named[0]?.classification
  const isHost = (attack.kind & ~scope.outgoing) === scope.host
  const classification = isHost ? (first ?? 'unknown') : carpetOf(first)
  const direction = directionOf(attack.kind)
  const lower = lowerOf(measure)
  const samples = samplesOf(measure)
  const { limits, members } = attack
  return {
    id: attack.id,
    network: attack.network,
    status: end === undefined ? 'ongoing' : 'ended',
    direction,
    classification,
    description: describe(classification, direction, attack.network.replace(/\/(?:32|128)$/, '')),
    start: secondText(attack.start),
    ...(end !== undefined && { end: secondText(end) }),
    observed: secondText(second),
    bps: rateOf(measure.bps),
    pps: rateOf(measure.pps),
    lower_bps: rateOf(lower.bps),
    lower_pps: rateOf(lower.pps),
    ...(samples !== undefined && { samples }),
    peak_bps: rateOf(peak.bps),
    peak_pps: rateOf(peak.pps),
    peak_lower_bps: rateOf(peakLower.bps),
    peak_lower_pps: rateOf(peakLower.pps),
    share: shareOf(strongest, peak, limits),
    ...(Number.isFinite(limits.bps) && { threshold_bps: rateOf(limits.bps) }),
    ...(Number.isFinite(limits.pps) && { threshold_pps: rateOf(limits.pps) }),
    total_bytes: rateOf(totals.octets),
    total_packets: rateOf(totals.packets),
    protocols: [...new Set(named.map(({ classification: one }) => one.split('.')[0]!))],
    vectors: named,
    ...(members.size > 0 && {
      networks: [...members.values()].slice(0, networksMax).map(({ network }) => network),
    }),
  }
}

function shareOf([first]: Strongest, peak: RateLimits, limits: RateLimits): number {
  if (first === undefined) return 0
  const unit = peak.pps / limits.pps > peak.bps / limits.bps ? 'pps' : 'bps'
  return peak[unit] > 0 ? Math.min(1, Math.round((100 * first[1][unit]) / peak[unit]) / 100) : 0
}

const describe = (classification: Classification, direction: Direction, target: string): string =>
  direction === 'incoming'
    ? `Incoming ${classifications[classification]} on ${target}`
    : `Outgoing ${classifications[classification]} from ${target}`

function samplesOf({ bps, bpsVariance, pps, ppsVariance }: Measure): number | undefined {
  if (bpsVariance > 0) return Math.round(bps ** 2 / bpsVariance)
  return ppsVariance > 0 ? Math.round(pps ** 2 / ppsVariance) : undefined
}

export const secondText = (second: number): string => new Date(second * 1000).toISOString()

const rateOf = (value: number): number => Math.max(0, Math.round(value))
