// The two chains of denial of existence behind one shape: NSEC (RFC 4034 section 4) and NSEC3 (RFC 5155). Owners are
// names in both, ordered by their name keys.
import { nameFromWire, nameToWire, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { encodeBitmap } from '../../net/dns/rdata/bitmap.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { isAuthoritative, provenTypes, type NameAuthority } from './authority.ts'
import { hashedOwner, hashLength, hashOfOwner, nsec3Owner } from './nsec3-hash.ts'

export type Chain = {
  readonly type: typeof recordType.NSEC | typeof recordType.NSEC3
  /** Whether empty non-terminals have a record. */
  readonly includesEmpty: boolean
  /** Returns the owner of the record of a name. */
  ownerOf(name: DomainName): DomainName
  /** Returns the bitmap of a name with sets of these types. */
  bitmapOf(standing: NameAuthority, types: readonly number[]): Uint8Array
  /** Returns the data of a record that points to the next owner. */
  encode(next: DomainName, bitmap: Uint8Array): Uint8Array
  /** Returns the next owner of a record. */
  nextOf(rdata: Uint8Array): DomainName
  /** Returns the bitmap of a record. */
  bitmapIn(rdata: Uint8Array): Uint8Array
}

/** Returns the chain of a zone. */
export const chainOf = (zone: ZoneName, denial: 'nsec' | 'nsec3'): Chain =>
  denial === 'nsec' ? nsec : nsec3In(zone)

const nsec: Chain = {
  type: recordType.NSEC,
  includesEmpty: false,
  ownerOf: (name) => name,
  bitmapOf: (standing, types) =>
    encodeBitmap([...provenTypes(standing, types), recordType.RRSIG, recordType.NSEC]),
  encode: (next, bitmap) => joined(nameToWire(next), bitmap),
  nextOf: (rdata) => nameFromWire(rdata),
  bitmapIn: (rdata) => rdata.subarray(nameToWire(nameFromWire(rdata)).length),
}

/** Hash algorithm 1, flags 0, iterations 0, no salt, length of the hash. */
const nsec3Head = Uint8Array.from([1, 0, 0, 0, 0, hashLength])

const nsec3In = (zone: ZoneName): Chain => ({
  type: recordType.NSEC3,
  includesEmpty: true,
  ownerOf: (name) => nsec3Owner(zone, name),
  // The bitmap contains RRSIG only if a set of the name is signed: not at an empty non-terminal or an insecure
  // delegation.
  bitmapOf: (standing, types) => {
    const isSigned = types.some((type) => isAuthoritative(standing, type))
    return encodeBitmap([...provenTypes(standing, types), ...(isSigned ? [recordType.RRSIG] : [])])
  },
  encode: (next, bitmap) => joined(nsec3Head, joined(hashOfOwner(next), bitmap)),
  nextOf: (rdata) => hashedOwner(zone, rdata.subarray(nsec3Head.length, nsec3Head.length + hashLength)),
  bitmapIn: (rdata) => rdata.subarray(nsec3Head.length + hashLength),
})

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a, 0)
  both.set(b, a.length)
  return both
}

/** Returns the TTL of negative answers and of NSEC and NSEC3 records: the lesser of the SOA's TTL and minimum (RFC 9077). */
export function negativeTtl({ ttl, rdata }: Rrset): number {
  const [soa] = rdata
  if (!soa || soa.length < 22) throw new RangeError('not a SOA record')
  return Math.min(ttl, new DataView(soa.buffer, soa.byteOffset, soa.length).getUint32(soa.length - 4))
}
