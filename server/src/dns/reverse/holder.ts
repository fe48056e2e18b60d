// The team that may write the PTR record of an address: the most specific holder, by the prefixes and announcements of all teams. Pure.
import { hostPrefix, lengthOf, type Prefix } from '../../net/prefix.ts'
import type { Address } from '../../net/address.ts'
import { createPrefixMap } from '../../net/prefix-map.ts'

/** A prefix or a claimed announcement. */
export type ReverseHolding = { readonly teamId: number; readonly prefix: Prefix }

export type Holders = {
  /**
   * Returns the team's holding of the address; undefined if the team has none, or another team has a more specific one.
   */
  findHolding(address: Address): Prefix | undefined
  /** Returns the team's holding that contains the network, also if parts of the network belong to other teams. */
  findHoldingAround(network: Prefix): Prefix | undefined
  /** Returns the team's holding of the whole network; undefined also if a part belongs to another team. */
  findHoldingOf(network: Prefix): Prefix | undefined
}

/** `holdings`: all holdings of the team, and the overlapping holdings of other teams. */
export function createHolders(teamId: number, holdings: readonly ReverseHolding[]): Holders {
  const map = createPrefixMap(holdings.map((holding) => [holding.prefix, holding] as const))
  const closest = (network: Prefix): Prefix | undefined => {
    const covering = map.covering(network)
    const [first] = covering
    if (!first) return undefined
    const length = lengthOf(first.prefix)
    return covering.find((one) => lengthOf(one.prefix) === length && one.teamId === teamId)?.prefix
  }
  return {
    findHolding: (address) => closest(hostPrefix(address)),
    findHoldingAround: closest,
    findHoldingOf(network) {
      const isShared = map.coveredBy(network).some((one) => one.teamId !== teamId && one.prefix !== network)
      return isShared ? undefined : closest(network)
    },
  }
}
