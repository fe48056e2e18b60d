// The thresholds of the detector and the resulting limits of a host, a network of the ladder or a prefix of a team,
// with its usual traffic. Pure.
import { prefixBits } from '../../net/prefix.ts'
import { maskBits, sameBits, type Bits } from '../../net/bits.ts'
import type { Threshold } from '../../flow/threshold.ts'
import { directionOf, holdingBits, scope, type Owners } from './scopes.ts'

/** Bits and packets per second. */
export type RateLimits = { readonly bps: number; readonly pps: number }

export type DetectorRules = {
  readonly thresholds: readonly Threshold[]
  /** Usual traffic of prefixes by their id, without the prefixes of the same team in them: the 99th percentile of this hour of the week. */
  readonly baselines: ReadonlyMap<number, RateLimits>
  /** Usual traffic of hosts and networks of the ladder, by their text: the 99th percentile of this hour of the last days. */
  readonly usual?: ReadonlyMap<string, RateLimits>
  /** Sum of the speeds of the ports of a team, in bit/s. */
  readonly portSpeeds?: ReadonlyMap<number, number>
}

/** Usual traffic as it is stored, and as it was in the last hour. */
export type UsualRates = { readonly stored: RateLimits | undefined; readonly recent: RateLimits | undefined }

const networkFactor = 4
const networkUsualFactor = 3
/** Recent traffic raises the stored usual traffic at most by this factor: an attack of hours does not become usual. */
const recentFactorMax = 4
/** More cannot arrive through the ports of a team. */
const portShare = 0.9
const portUsualFactor = 1.2

/** Returns the usual traffic; undefined if unknown. */
export function usualRatesOf({ stored, recent }: UsualRates): RateLimits | undefined {
  if (!stored || !recent) return stored ?? recent
  const raised = (one: number, now: number) => Math.max(one, Math.min(now, recentFactorMax * one))
  return { bps: raised(stored.bps, recent.bps), pps: raised(stored.pps, recent.pps) }
}

export type LimitRules = ReturnType<typeof createLimitRules>

export function createLimitRules({ thresholds, portSpeeds }: DetectorRules) {
  const byTeam = Map.groupBy(compile(thresholds), ({ teamId }) => teamId)
  const lists = new Map<number, readonly Compiled[]>()
  /** The most specific prefix first, then the team's thresholds, then the general ones. */
  const thresholdsOf = (teamId: number): readonly Compiled[] => {
    const known = lists.get(teamId)
    if (known) return known
    const found = [...(byTeam.get(teamId) ?? []), ...(byTeam.get(undefined) ?? [])].sort(
      (a, b) => rank(b) - rank(a),
    )
    lists.set(teamId, found)
    return found
  }
  const find = (network: Bits, teamId: number): Threshold | undefined =>
    thresholdsOf(teamId).find(({ bits }) => bits === undefined || isWithin(network, bits))
  return {
    find,
    isEmpty: thresholds.length === 0,
    /** Thresholds for a part of the network. */
    within: (network: Bits, teamId: number): readonly Threshold[] =>
      thresholdsOf(teamId).filter(({ bits }) => bits !== undefined && isWithin(bits, network)),
    /** The limits by a threshold; `usual` as far as it is known. */
    limitsOf(threshold: Threshold, kind: number, teamId: number, usual?: RateLimits): RateLimits {
      const own = sidesOf(threshold, kind)
      if ((kind & ~scope.outgoing) === scope.host) {
        if (threshold.ratio === undefined || usual === undefined) return own
        return {
          bps: Math.max(own.bps, threshold.ratio * usual.bps),
          pps: Math.max(own.pps, threshold.ratio * usual.pps),
        }
      }
      const speed = portSpeeds?.get(teamId) ?? Infinity
      const bps = Math.max(
        networkOf(own.bps, threshold.networkBps, kind),
        networkUsualFactor * (usual?.bps ?? 0),
      )
      const pps = Math.max(
        networkOf(own.pps, threshold.networkPps, kind),
        networkUsualFactor * (usual?.pps ?? 0),
      )
      const bpsMax = Math.max(portShare * speed, portUsualFactor * (usual?.bps ?? 0))
      return { bps: bps === Infinity ? bps : Math.min(bps, bpsMax), pps }
    },
  }
}

function sidesOf(
  { bps = Infinity, pps = Infinity, outgoingBps, outgoingPps }: Threshold,
  kind: number,
): RateLimits {
  if (directionOf(kind) === 'incoming') return { bps, pps }
  return { bps: outgoingBps ?? bps, pps: outgoingPps ?? pps }
}

/** For sent traffic, networks have no separate threshold. */
const networkOf = (host: number, network: number | undefined, kind: number): number =>
  directionOf(kind) === 'incoming' ? (network ?? networkFactor * host) : networkFactor * host

type Compiled = Threshold & { readonly bits: Bits | undefined }

/** Of two thresholds for the same addresses, the team's stays, unless the operator's is locked. */
function compile(thresholds: readonly Threshold[]): Compiled[] {
  const keyOf = ({ teamId, prefix }: Threshold) => `${teamId ?? ''} ${prefix ?? ''}`
  return [...Map.groupBy(thresholds, keyOf).values()].map((same) => {
    const one = same.find(({ isLocked }) => isLocked) ?? same.find(({ ofTeam }) => ofTeam) ?? same[0]!
    return { ...one, bits: one.prefix === undefined ? undefined : prefixBits(one.prefix) }
  })
}

const rank = ({ bits, teamId }: Compiled): number =>
  (bits ? 1000 + bits.length : 0) + (teamId === undefined ? 0 : 1)

function isWithin(network: Bits, bits: Bits): boolean {
  return (
    network.family === bits.family &&
    network.length >= bits.length &&
    sameBits(maskBits({ ...network, length: bits.length }), bits, bits.length)
  )
}

/** Places of the lowest limits of a list, each of bits followed by that of packets. */
export const floor = { host: 0, network: 2, outgoingHost: 4, outgoingNetwork: 6, width: 8 } as const

export const floorOf = (kind: number): number =>
  (kind & ~scope.outgoing ? floor.network : floor.host) + (kind & scope.outgoing ? floor.outgoingHost : 0)

/**
 * Returns the lowest limits of the addresses of each list of owners: traffic below a small part of them is not
 * evaluated.
 */
export function floorsOf(owners: Owners, rules: LimitRules): Float64Array {
  const floors = new Float64Array((owners.starts.length - 1) * floor.width).fill(Infinity)
  for (let list = 1; list < owners.starts.length - 1; list++) {
    const network = holdingBits(owners, list)
    const teamId = owners.teamIds[owners.starts[list]!]!
    const own = rules.find(network, teamId)
    for (const threshold of [...(own ? [own] : []), ...rules.within(network, teamId)]) {
      for (const kind of [
        scope.host,
        scope.holding,
        scope.outgoing + scope.host,
        scope.outgoing + scope.holding,
      ]) {
        const at = list * floor.width + floorOf(kind)
        const { bps, pps } = rules.limitsOf(threshold, kind, teamId)
        floors[at] = Math.min(floors[at]!, bps)
        floors[at + 1] = Math.min(floors[at + 1]!, pps)
      }
    }
  }
  return floors
}
