// How people write networks.

/** Returns an address without the length of a host's prefix; a network as it is. */
export const networkText = (network: string): string =>
  network.replace(network.includes(':') ? /\/128$/ : /\/32$/, '')
