// Validated ROA payloads (VRPs), as text and as the numbers that protocols carry.
import { formatBits } from '../../net/bits-text.ts'
import type { Bits } from '../../net/bits.ts'
import { prefixBits } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'

/**
 * Validated ROA payload: `asn` may originate `prefix` and prefixes inside it, up to `maxLength`. AS 0: no network may.
 */
export type Vrp = { readonly prefix: Prefix; readonly maxLength: number; readonly asn: number }

/** A VRP as numbers, as protocols carry it: the prefix has no host bits, `maxLength` is from its length to the family's. */
export type VrpBits = Bits & { readonly maxLength: number; readonly asn: number }

/** Converts the VRP of a text source to numbers. */
export function vrpBits({ prefix, maxLength, asn }: Vrp): VrpBits {
  return { ...prefixBits(prefix), maxLength, asn }
}

/** Returns the VRP's prefix as text. */
export function vrpPrefix(vrp: Bits): Prefix {
  return `${formatBits(vrp)}/${vrp.length}` as Prefix
}
