// The address of a client as the operating system names it, for rules and for limits per address.

/**
 * Returns the address without additions of the socket: a dual-stack socket reports IPv4 as `::ffff:192.0.2.1`, and
 * link-local addresses have a zone.
 */
export const plainAddress = (address: string): string =>
  address.includes(':') ? address.replace(/^::ffff:(?=\d+\.)|%.*$/gi, '') : address
