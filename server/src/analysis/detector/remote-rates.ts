// Rates of other collectors towards destinations, added up. Each collector knows only its own exporters; the sum is compared with
// thresholds. Pure.
import { shortSeconds } from './rate-table.ts'
import type { Limits } from './threshold.ts'
import { vectors, type Vector } from './vector.ts'

/** Rates of one collector towards one destination: a host, or a /24 or /64. */
export type TargetRates = {
  readonly network: string
  readonly bps: number
  readonly pps: number
  /** Bits and packets per second by kind of traffic. */
  readonly vectors: { readonly [V in Vector]?: readonly [bps: number, pps: number] }
}

/** The rates of one collector, and how long ago it wrote them. */
export type CollectorRates = { readonly ageSeconds: number; readonly targets: readonly TargetRates[] }

export type RemoteRates = Limits & { readonly vectors: ReadonlyMap<number, Limits> }

/** Rates are written more often than that. */
const currentSeconds = 3
/** Older rates are of no use. */
const endSeconds = 60

/**
 * The part of a rate that is left after a time. A collector that ended fades out as a moving average does: if its exporters send to another
 * collector from then on, the sum of both is at most 1.31 times the traffic.
 */
const remaining = (ageSeconds: number): number =>
  ageSeconds >= endSeconds ? 0 : Math.exp(-Math.max(0, ageSeconds - currentSeconds) / shortSeconds)

/** Returns the function that finds the rates of the other collectors towards a network, `sinceSeconds` after they were read. */
export function addRates(
  collectors: readonly CollectorRates[],
): (network: string, sinceSeconds: number) => RemoteRates | undefined {
  type Part = { readonly ageSeconds: number; readonly rates: TargetRates }
  const parts = new Map<string, Part[]>()
  for (const { ageSeconds, targets } of collectors) {
    for (const rates of targets) {
      const list = parts.get(rates.network) ?? []
      list.push({ ageSeconds, rates })
      parts.set(rates.network, list)
    }
  }
  return (network, sinceSeconds) => {
    const found = parts.get(network)
    if (!found) return undefined
    const sum = { bps: 0, pps: 0, vectors: new Map<number, Limits>() }
    for (const { ageSeconds, rates } of found) {
      const factor = remaining(ageSeconds + sinceSeconds)
      sum.bps += rates.bps * factor
      sum.pps += rates.pps * factor
      for (const [name, [bps, pps]] of Object.entries(rates.vectors)) {
        const vector = vectors.indexOf(name as Vector)
        const before = sum.vectors.get(vector) ?? { bps: 0, pps: 0 }
        sum.vectors.set(vector, { bps: before.bps + bps * factor, pps: before.pps + pps * factor })
      }
    }
    return sum
  }
}
