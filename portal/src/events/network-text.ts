// How people write the network of an event. Pure.
import { words } from './words.ts'

/** Returns an address without the length of a host's prefix, and a name for an unknown network. */
export function networkText(network: string): string {
  if (network === '') return words.unknownNetwork
  return network.replace(network.includes(':') ? /\/128$/ : /\/32$/, '')
}
