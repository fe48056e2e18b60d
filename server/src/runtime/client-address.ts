// The address of a client as the operating system names it, for rules and for limits per address.

/** Returns the address without what a socket adds: a dual-stack one shows IPv4 as `::ffff:192.0.2.1`, and link-local ones have a zone. */
export const plainAddress = (address: string): string =>
  address.includes(':') ? address.replace(/^::ffff:(?=\d+\.)|%.*$/gi, '') : address
