// Whether an address belongs to the public internet, for connections to hosts that customers choose. Names are resolved before, and every
// address is checked here.
import { parseAddress } from './address.ts'
import { bogonOf } from './bogon.ts'
import { covers, hostPrefix, parsePrefix, type Prefix } from './prefix.ts'

/** A public address that leads to the host of a virtual machine and not to the internet (Azure's WireServer). */
const wireServer = parsePrefix('168.63.129.16/32')

/**
 * Returns why the address must not be used; undefined if it is allowed. Any other form than the canonical form of a
 * plain address (a zone, an IPv4-mapped IPv6 address) is refused as well.
 */
export function objectionToAddress(text: string): string | undefined {
  const prefix = prefixOf(text)
  if (prefix === undefined) return 'it is not an address of the public internet'
  if (prefix === wireServer) return 'it is an address of the host'
  return bogonOf(prefix)?.name
}

/** Returns whether any of the networks contains the address. */
export function isWithin(text: string, networks: readonly Prefix[]): boolean {
  const prefix = prefixOf(text)
  return prefix !== undefined && networks.some((network) => covers(network, prefix))
}

function prefixOf(text: string): Prefix | undefined {
  try {
    return hostPrefix(parseAddress(text))
  } catch {
    return undefined
  }
}
