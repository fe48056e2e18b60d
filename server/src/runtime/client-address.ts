// The address of a client as the operating system names it, for rules and for limits per address.
import { maskHostBits } from '../net/prefix.ts'

/** Returns the address without what a socket adds: a dual-stack one shows IPv4 as `::ffff:192.0.2.1`, and link-local ones have a zone. */
export const plainAddress = (address: string): string =>
  address.includes(':') ? address.replace(/^::ffff:(?=\d+\.)|%.*$/gi, '') : address

/** Returns an IPv4 address as it is, and the /64 of an IPv6 address: a subscriber has one (RFC 6177), and may use any address in it. */
export function clientKey(address: string): string {
  const plain = plainAddress(address)
  return plain.includes(':') ? maskHostBits(`${plain}/64`) : plain
}
