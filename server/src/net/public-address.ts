// Whether an address is one of the public internet, for whoever connects to where a customer says. It knows nothing of names:
// those are resolved first, and every address that they lead to is asked about here.
import { parseAddress } from './address.ts'
import { bogonOf } from './bogon.ts'
import { covers, hostPrefix, parsePrefix, type Prefix } from './prefix.ts'

/** A public address that leads to the host of a virtual machine and not to the internet (Azure's WireServer). */
const wireServer = parsePrefix('168.63.129.16/32')

/**
 * Why nothing may be sent there; undefined where it may. What is not the canonical spelling of a plain address (a zone, an
 * IPv4-mapped IPv6 address) is refused with the rest.
 */
export function objectionToAddress(text: string): string | undefined {
  const prefix = prefixOf(text)
  if (prefix === undefined) return 'it is not an address of the public internet'
  if (prefix === wireServer) return 'it is an address of the host'
  return bogonOf(prefix)?.name
}

/** Whether one of the networks holds the address. */
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
