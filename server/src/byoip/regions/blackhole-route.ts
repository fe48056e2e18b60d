// Routes of black holes: a single host with the community BLACKHOLE, whose packets routers discard. Pure.
import { blackholesPerRegion, blackholesPerTeam } from '@pharos/contract/shield/blackhole'
import { blackholeCommunity } from '../../net/community.ts'
import { lengthOf, type Prefix } from '../../net/prefix.ts'
import type { Route } from './speaker.ts'

/** Addresses that routers discard: a documentation address by convention (RFC 5635 section 4), and the discard prefix (RFC 6666). */
const discardAddresses = { 4: '192.0.2.1', 6: '100::1' } as const

/** The next hops of black holes; the usual discard addresses if absent. */
export type DiscardSettings = { readonly discard4?: string; readonly discard6?: string }

/** Returns the next hop of black holes in the family of the host. */
export const discardNextHop = ({ discard4, discard6 }: DiscardSettings, host: Prefix): string =>
  host.includes(':') ? (discard6 ?? discardAddresses[6]) : (discard4 ?? discardAddresses[4])

export const isHost = (prefix: Prefix): boolean => lengthOf(prefix) === (prefix.includes(':') ? 128 : 32)

/** Whether the route is a black hole of Pharos: its withdrawal makes a host reachable again, and takes no network off the internet. */
export const isBlackhole = ({ prefix, communities }: Pick<Route, 'prefix' | 'communities'>): boolean =>
  communities.includes(blackholeCommunity) && isHost(prefix)

type LimitedRow = { readonly blackholeId?: number; readonly teamId: number; readonly desired: boolean }

/**
 * Returns the ids of desired black holes beyond the limits of a team and of a region, which are never announced. Requests keep the
 * limits already: this stops a defect from black-holing hosts in bulk. The oldest rows keep their places.
 */
export function findExcess(rows: readonly LimitedRow[]): ReadonlySet<number> {
  const desired = rows
    .filter((row) => row.blackholeId !== undefined && row.desired)
    .sort((a, b) => a.blackholeId! - b.blackholeId!)
  const ofTeam = new Map<number, number>()
  const excess = new Set<number>()
  let kept = 0
  for (const { blackholeId, teamId } of desired) {
    const count = ofTeam.get(teamId) ?? 0
    if (count >= blackholesPerTeam || kept >= blackholesPerRegion) {
      excess.add(blackholeId!)
      continue
    }
    ofTeam.set(teamId, count + 1)
    kept++
  }
  return excess
}
