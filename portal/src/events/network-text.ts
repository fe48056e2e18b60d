// How people write the network of an event. Pure.
import { networkText as known } from '@pharos/contract/network-text'
import { words } from './words.ts'

/** Returns an address without the length of a host's prefix, and a name for an unknown network. */
export const networkText = (network: string): string =>
  network === '' ? words.unknownNetwork : known(network)
