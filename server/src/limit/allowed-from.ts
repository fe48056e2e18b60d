// The networks from which a credential may be used. Pure.
import { covers, parsePrefix, parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { plainAddress } from '../runtime/client-address.ts'

/** An empty list allows every network. A client address that cannot be parsed is never allowed by a list. */
export function isAllowedFrom(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true
  const from = findAddressPrefix(address)
  return from !== undefined && networks.some((network) => covers(parsePrefix(network), from))
}

/** Returns the address as a prefix; undefined if it cannot be parsed. */
export function findAddressPrefix(address: string): Prefix | undefined {
  try {
    return parsePrefixOrAddress(plainAddress(address))
  } catch {
    return undefined
  }
}
