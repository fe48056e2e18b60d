// Hashed owner names of NSEC3 (RFC 5155) with the only parameters in use: SHA-1, no additional iterations, no salt, no opt-out
// (RFC 9276 section 3.1).
import { hash } from 'node:crypto'
import { nameToWire, root, type DomainName, type ZoneName } from '../../net/dns/name.ts'

/** Data of the NSEC3PARAM record: `1 0 0 -`. */
export const nsec3Param: Uint8Array = Uint8Array.from([1, 0, 0, 0, 0])

/** Octets of the hash. */
export const hashLength = 20

const digits = '0123456789abcdefghijklmnopqrstuv'

/** Returns the SHA-1 hash of a name in wire format. */
const hashName = (name: DomainName): Uint8Array => hash('sha1', nameToWire(name), 'buffer')

/** Returns the owner of the NSEC3 record with this hash: the hash in base32 with the extended hex alphabet (RFC 4648), in the zone. */
export function hashedOwner(zone: ZoneName, hash: Uint8Array): DomainName {
  let label = ''
  for (let at = 0; at < hash.length; at += 5) {
    // Five octets are eight digits.
    const high = (hash[at]! << 12) | (hash[at + 1]! << 4) | (hash[at + 2]! >> 4)
    const low = ((hash[at + 2]! & 15) << 16) | (hash[at + 3]! << 8) | hash[at + 4]!
    for (const bits of [high, low]) {
      for (let shift = 15; shift >= 0; shift -= 5) label += digits[(bits >> shift) & 31]
    }
  }
  return (zone === root ? `${label}.` : `${label}.${zone}`) as DomainName
}

/** Returns the owner of the NSEC3 record of a name. */
export const nsec3Owner = (zone: ZoneName, name: DomainName): DomainName => hashedOwner(zone, hashName(name))

/** Returns the hash of which the first label of an NSEC3 owner is the text. */
export function hashOfOwner(owner: DomainName): Uint8Array {
  const hash = new Uint8Array(hashLength)
  let bits = 0
  let count = 0
  for (let i = 0, at = 0; at < hashLength; i++) {
    bits = ((bits << 5) | digits.indexOf(owner[i]!)) & 0xfff
    count += 5
    if (count < 8) continue
    count -= 8
    hash[at++] = (bits >> count) & 255
  }
  return hash
}
