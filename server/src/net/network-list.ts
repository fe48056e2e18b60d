// Addresses and networks, as settings have them: `192.0.2.1`, `2001:db8::/32`.
import { parseAddress } from './address.ts'
import { hostPrefix, maskHostBits, type Prefix } from './prefix.ts'

/** Host bits are cleared; throws a PrefixError. */
export function parseNetworks(texts: readonly string[]): readonly Prefix[] {
  return texts.map((text) => (text.includes('/') ? maskHostBits(text) : hostPrefix(parseAddress(text))))
}
