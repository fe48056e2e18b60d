// Rates of other collectors to and from targets, added up. Each collector knows only its own exporters; the sum is compared with
// limits. Pure.
import { attackKey } from './attack-id.ts'
import type { RateLimits } from './limits.ts'
import { add, combine, noMeasure, type Measure } from './measure.ts'
import { shortSeconds } from './row-ticks.ts'
import type { Direction } from './scopes.ts'
import { vectors, type Vector } from '../../flow/vector.ts'

/** Rates of one collector to one target: a host, a network of the ladder, or a prefix of a team. */
export type TargetRates = {
  readonly network: string
  /** Incoming if it is undefined, as collectors before 0.2.0 wrote them. */
  readonly direction?: Direction
  readonly bps: number
  readonly pps: number
  /** Variances of both; undefined if every packet was counted. */
  readonly variances?: readonly [bps: number, pps: number]
  /** Bits and packets per second by kind of traffic. */
  readonly vectors: { readonly [V in Vector]?: readonly [bps: number, pps: number] }
}

/** The rates of one collector, and how long ago it wrote them. */
export type CollectorRates = { readonly ageSeconds: number; readonly targets: readonly TargetRates[] }

export type RemoteRates = { readonly measure: Measure; readonly vectors: ReadonlyMap<number, RateLimits> }

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

/** Returns the function that finds the rates of the other collectors by `attackKey`, `sinceSeconds` after they were read. */
export function addRates(
  collectors: readonly CollectorRates[],
): (key: string, sinceSeconds: number) => RemoteRates | undefined {
  type Part = { readonly ageSeconds: number; readonly rates: TargetRates }
  const parts = new Map<string, Part[]>()
  for (const { ageSeconds, targets } of collectors) {
    for (const rates of targets) {
      const key = attackKey(rates.network, rates.direction ?? 'incoming')
      const list = parts.get(key) ?? []
      list.push({ ageSeconds, rates })
      parts.set(key, list)
    }
  }
  return (key, sinceSeconds) => {
    const found = parts.get(key)
    if (!found) return undefined
    let measure = noMeasure
    const byVector = new Map<number, RateLimits>()
    for (const { ageSeconds, rates } of found) {
      const factor = remaining(ageSeconds + sinceSeconds)
      const [bpsVariance, ppsVariance] = rates.variances ?? [0, 0]
      const part = {
        bps: rates.bps * factor,
        pps: rates.pps * factor,
        bpsVariance: bpsVariance * factor ** 2,
        ppsVariance: ppsVariance * factor ** 2,
      }
      measure = combine(measure, part, add)
      for (const [name, [bps, pps]] of Object.entries(rates.vectors)) {
        const vector = vectors.indexOf(name as Vector)
        const before = byVector.get(vector) ?? { bps: 0, pps: 0 }
        byVector.set(vector, { bps: before.bps + bps * factor, pps: before.pps + pps * factor })
      }
    }
    return { measure, vectors: byVector }
  }
}
