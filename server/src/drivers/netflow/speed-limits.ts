// The highest rate of an interface: the limit of plausible flows.
import type { InterfaceSpeeds } from '../../flow/flow-decoder.ts'

/** For bursts, and counters of frames. */
const margin = 1.2
const octetsPerMs = (bps: number): number => (margin * bps) / 8 / 1000

/** Speed of the fastest interfaces. */
export const octetsPerMsMax = octetsPerMs(800e9)
/** Exporters without a duration, and short flows, may report the traffic of a minute. */
export const durationMinMs = 60_000

export type SpeedLimits = {
  /** By number of the interface: octets per millisecond. */
  readonly speeds: ReadonlyMap<number, number>
  /** Octets that each of the interfaces can send in the shortest duration. */
  readonly smallOctets: number
}

export function speedLimitsOf(speeds: InterfaceSpeeds): SpeedLimits {
  const limits = new Map([...speeds].map(([ifIndex, bps]) => [ifIndex, octetsPerMs(bps)]))
  const slowest = Math.min(octetsPerMsMax, ...limits.values())
  return { speeds: limits, smallOctets: slowest * durationMinMs }
}
