// The usual traffic of targets, as it is stored. Pure.
import type { DetectorRules, RateLimits } from './limits.ts'
import type { Owners } from './scopes.ts'

/**
 * Returns the stored usual traffic of the prefix of each list. The stored rates of a prefix are without the prefixes of the same team in it:
 * they are added.
 */
export function storedOfLists(
  owners: Owners,
  baselines: DetectorRules['baselines'],
): (RateLimits | undefined)[] {
  const { starts, teamIds, prefixIds, parents } = owners
  const lists = starts.length - 1
  const teamOf = (list: number): number => teamIds[starts[list]!] ?? 0
  const prefixOf = (list: number, teamId: number): number => {
    for (let at = starts[list]!; at < starts[list + 1]!; at++)
      if (teamIds[at] === teamId) return prefixIds[at]!
    return 0
  }
  const found: (RateLimits | undefined)[] = Array.from({ length: lists }, () => undefined)
  // Parents have lower numbers.
  for (let list = lists - 1; list > 0; list--) {
    const team = teamOf(list)
    const prefix = prefixOf(list, team)
    // The team only announces it: the id belongs to a prefix around it.
    const isOwn = prefix !== 0 && prefix !== prefixOf(parents[list]!, team)
    const own = isOwn ? baselines.get(prefix) : undefined
    const inside = found[list]
    found[list] = own && { bps: own.bps + (inside?.bps ?? 0), pps: own.pps + (inside?.pps ?? 0) }
    const sum = own ? found[list] : inside
    let above = parents[list]!
    while (above !== 0 && teamOf(above) !== team) above = parents[above]!
    if (sum === undefined || above === 0) continue
    const known = found[above] ?? { bps: 0, pps: 0 }
    found[above] = { bps: known.bps + sum.bps, pps: known.pps + sum.pps }
  }
  return found
}
