// The key of a client in limits per address. A subscriber has a /64 of IPv6 (RFC 6177), and may use any of its addresses.
import { maskHostBits } from '../net/prefix.ts'

/** Returns an IPv4 address as it is, and the /64 of an IPv6 address. A dual-stack socket shows IPv4 as `::ffff:192.0.2.1`. */
export function clientKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)|%.*$/gi, '')
  return plain.includes(':') ? maskHostBits(`${plain}/64`) : plain
}
